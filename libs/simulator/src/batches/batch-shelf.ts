import type { JsonObject } from '../json.js';

/** A batch that the simulator was given. */
export interface SimBatch {
  readonly id: string;
  readonly file: string;
  readonly endpoint: string;
  readonly metadata: JsonObject;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  status: 'validating' | 'in_progress' | 'completed' | 'cancelling' | 'cancelled';
}

const KEPT_MAX = 64;
const BYTES_MAX = 256 * 1024 * 1024;

/** The newest files of lines and batches. */
export class BatchShelf {
  private readonly files = new Map<string, Buffer>();
  private readonly batches = new Map<string, SimBatch>();
  private count = 0;

  addFile(lines: Buffer): string {
    const id = `file-${this.next()}-simulated-lines`;
    // A copy: the request's bytes are a part of a larger buffer.
    this.files.set(id, Buffer.from(lines));
    const size = (): number => [...this.files.values()].reduce((sum, { length }) => sum + length, 0);
    while (this.files.size > KEPT_MAX || (this.files.size > 1 && size() > BYTES_MAX)) dropOldest(this.files);
    return id;
  }

  file(id: string): Buffer | undefined {
    return this.files.get(id);
  }

  addBatch(of: Pick<SimBatch, 'file' | 'endpoint' | 'metadata' | 'createdAt'>): SimBatch {
    const batch: SimBatch = { ...of, id: `batch_${this.next()}-simulated-batch`, status: 'validating' };
    this.batches.set(batch.id, batch);
    if (this.batches.size > KEPT_MAX) dropOldest(this.batches);
    return batch;
  }

  batch(id: string): SimBatch | undefined {
    return this.batches.get(id);
  }

  /** The newest first. */
  list(): SimBatch[] {
    return [...this.batches.values()].reverse();
  }

  private next(): string {
    this.count += 1;
    return this.count.toString(36).padStart(8, '0');
  }
}

function dropOldest(map: Map<string, unknown>): void {
  const [oldest] = map.keys();
  map.delete(oldest);
}

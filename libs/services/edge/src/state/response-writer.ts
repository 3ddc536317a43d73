import type { ResponseStore, StoredResponse } from '@gateway/contracts';
import type { Deadline, Deadlines } from '@gateway/platform';

/** Waiting for their write, and together in one. */
const WAITING_MAX = 4_096;
const WAITING_BYTES_MAX = 64 * 1_048_576;
const BATCH_MAX = 64;
const BATCH_BYTES_MAX = 16 * 1_048_576;
/** A single response that is larger is not kept. */
const ONE_BYTES_MAX = 12 * 1_048_576;
const LINGER_MS = 5;
const RETRY_MS = 250;
const TRIES_MAX = 40;

interface Waiting {
  response: StoredResponse;
  bytes: number;
}

/** Keeps responses behind their answers: no answer waits for it, and what it holds is bounded. */
export class ResponseWriter {
  private waiting: Waiting[] = [];
  private bytes = 0;
  private timer: Deadline | null = null;
  private writing: Promise<void> | null = null;

  /** `onLost` gets the number of responses that will never be kept. */
  constructor(
    private readonly store: ResponseStore,
    private readonly deadlines: Pick<Deadlines, 'set'>,
    private readonly onLost: (count: number, cause: unknown) => void,
  ) {}

  keep(response: StoredResponse): void {
    const bytes = Buffer.byteLength(JSON.stringify(response));
    const isFull = this.waiting.length >= WAITING_MAX || this.bytes + bytes > WAITING_BYTES_MAX;
    if (isFull || bytes > ONE_BYTES_MAX) {
      this.onLost(
        1,
        new Error(isFull ? 'too many responses wait for the store' : 'the response is too large'),
      );
      return;
    }
    this.waiting.push({ response, bytes });
    this.bytes += bytes;
    if (this.writing === null) this.timer ??= this.deadlines.set(LINGER_MS, () => this.start());
  }

  /** Writes what waits; at the end of the process. */
  async flush(): Promise<void> {
    this.start();
    await this.writing;
  }

  private start(): void {
    this.timer?.cancel();
    this.timer = null;
    this.writing ??= this.write().finally(() => {
      this.writing = null;
    });
  }

  private async write(): Promise<void> {
    for (let tries = 1; this.waiting.length > 0;) {
      const batch = this.next();
      try {
        await this.store.keep(batch.map(({ response }) => response));
        this.drop(batch);
        tries = 1;
      } catch (cause) {
        if (tries >= TRIES_MAX) {
          this.onLost(batch.length, cause);
          this.drop(batch);
          tries = 1;
          continue;
        }
        tries += 1;
        await new Promise<void>((resolve) => this.deadlines.set(RETRY_MS, resolve));
      }
    }
  }

  private next(): Waiting[] {
    let bytes = 0;
    const batch: Waiting[] = [];
    for (const one of this.waiting) {
      bytes += one.bytes;
      if (batch.length > 0 && (bytes > BATCH_BYTES_MAX || batch.length >= BATCH_MAX)) break;
      batch.push(one);
    }
    return batch;
  }

  private drop(batch: readonly Waiting[]): void {
    this.waiting.splice(0, batch.length);
    for (const { bytes } of batch) this.bytes -= bytes;
  }
}

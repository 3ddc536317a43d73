import {
  ApiError,
  Inference,
  objectName,
  ObjectStore,
  type Clock,
  type ObjectKey,
  type UpstreamBatch,
  type UpstreamBatchCall,
} from '@gateway/contracts';
import { textLines } from '@gateway/platform';
import { contentOf, FileStore } from '../files/files.store.js';
import { BatchAnswers, type LineAnswer } from './batch-answers.js';
import { BatchHold } from './batch-hold.js';
import { BatchStore, type Batch, type Upstream } from './batches.store.js';

interface Parts {
  batches: BatchStore;
  answers: BatchAnswers;
  files: FileStore;
  objects: ObjectStore;
  inference: Inference;
  clock: Clock;
  linesAtOnce: number;
}

type Waiting = Extract<Upstream, { kind: 'at' }>;

const UPLOAD_TRIES_MAX = 4;
const UPLOAD_WAIT_MS = 2_000;
/** Between looks; it grows, and stays below the time after which a hold lapses. */
const LOOK_MS = { first: 1_000, max: 30_000 };
/** What was begun though its answer did not come is found after this time. */
const FAILED_MS = 5_000;
/** Failures in a row after which a batch that has to end does so without its provider's answers. */
const FAILURES_MAX = 30;
const COPY_BYTES_MAX = 64 * 1_048_576;
const ANSWER_BYTES_MAX = 32 * 1_048_576;

/** The input of a batch that its provider runs: a copy, so that nobody takes it away before what was done is billed. */
export function copyOf({ id, account_id }: Batch): ObjectKey {
  return objectName('batches', account_id, `${id}.jsonl`);
}

/**
 * Batches that a provider runs itself: upload, begin, look until it has ended, fetch the answers. Where each stands is in its
 * row, so whoever comes next goes on; a visit is short, and between visits nobody has the lease.
 */
export class UpstreamWork {
  constructor(private readonly parts: Parts) {}

  /** True where a provider has its lines; false where they are run one by one. */
  async upload(batch: Batch, worker: string, signal: AbortSignal): Promise<boolean> {
    const { batches, objects } = this.parts;
    const answer = (await this.copy(batch)) ? await this.uploaded(batch, signal) : null;
    if (answer?.kind === 'at') {
      const upstream = {
        kind: 'at',
        state: answer.state,
        looks: 0,
        failures: 0,
        isCancelled: false,
      } as const;
      await batches.park(batch.id, worker, upstream, 0);
      return true;
    }
    await batches.setUpstream(batch.id, worker, null);
    await objects.remove(copyOf(batch));
    return false;
  }

  /** One step. What fails is tried again at the next visit. */
  async visit(batch: Batch, worker: string): Promise<void> {
    const { batches, inference, clock, linesAtOnce } = this.parts;
    const at = batch.upstream as Waiting;
    const hasToEnd = batch.status === 'cancelling' || clock.now() >= batch.expires_at.getTime();
    const hold = new BatchHold(inference, clock, { batch, linesAtOnce });
    if (!hasToEnd) await hold.keep().catch(() => undefined);
    try {
      // The answers of a large one take longer to come than a hold lasts.
      await hold.renewed(() => this.step(batch, worker, at, hasToEnd));
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      const failures = at.failures + 1;
      if (hasToEnd && failures >= FAILURES_MAX) return batches.setUpstream(batch.id, worker, endOf(at));
      await batches.park(batch.id, worker, { ...at, failures }, waitMs(failures, FAILED_MS));
    }
  }

  private async step(batch: Batch, worker: string, at: Waiting, hasToEnd: boolean): Promise<void> {
    const { batches } = this.parts;
    const { id } = batch;
    if (at.state.id === null) {
      const begun = await this.ask(batch, 'create', at, hasToEnd);
      // Nothing was begun, or it is refused: the lines are run one by one.
      if (begun.kind !== 'at') return batches.setUpstream(id, worker, null);
      return batches.park(id, worker, { ...at, state: begun.state, failures: 0 }, LOOK_MS.first);
    }
    if (hasToEnd && !at.isCancelled) {
      await this.ask(batch, 'cancel', at);
      return batches.park(id, worker, { ...at, isCancelled: true, looks: 0, failures: 0 }, LOOK_MS.first);
    }
    const seen = await this.ask(batch, 'look', at);
    if (seen.kind === 'at') {
      const looks = at.looks + 1;
      return batches.park(id, worker, { ...at, looks, failures: 0 }, waitMs(looks, LOOK_MS.first));
    }
    if (seen.kind === 'ended' && seen.results !== null) await this.keep(batch, seen.results as ObjectKey);
    await batches.setUpstream(id, worker, endOf(at));
  }

  private ask(
    batch: Batch,
    step: UpstreamBatchCall['step'],
    at: Waiting | null,
    findsOnly = false,
  ): Promise<UpstreamBatch> {
    const { id: batch_id, key_id, account_id, request_id, endpoint } = batch;
    return this.parts.inference.upstreamBatch({
      ...{ key_id, account_id, request_id, endpoint, batch_id, step },
      ...{ finds_only: findsOnly, state: at?.state ?? null, input: copyOf(batch) },
    });
  }

  /** Null where it cannot be asked for a while. */
  private async uploaded(batch: Batch, signal: AbortSignal): Promise<UpstreamBatch | null> {
    for (let tries = 1; tries <= UPLOAD_TRIES_MAX; tries += 1) {
      try {
        return await this.ask(batch, 'upload', null);
      } catch (failure) {
        if (!(failure instanceof ApiError)) throw failure;
        await this.parts.clock.sleep(UPLOAD_WAIT_MS * tries, signal);
      }
    }
    return null;
  }

  /** False where there is nothing to copy. */
  private async copy(batch: Batch): Promise<boolean> {
    const { files, objects } = this.parts;
    const file = await files.read(batch.key_id, batch.input_file_id);
    const found = file === null ? null : await objects.get(contentOf(file));
    if (found === null) return false;
    await objects.put(copyOf(batch), found.content, { maxBytes: COPY_BYTES_MAX });
    return true;
  }

  private async keep(batch: Batch, results: ObjectKey): Promise<void> {
    const { answers, objects } = this.parts;
    const found = await objects.get(results);
    // It was kept before, and is gone since.
    if (found === null) return;
    const lines = async function* (): AsyncGenerator<LineAnswer> {
      for await (const text of textLines(found.content, ANSWER_BYTES_MAX))
        yield JSON.parse(text) as LineAnswer;
    };
    await answers.keep(batch.id, lines());
    await objects.remove(results);
  }
}

function endOf({ state }: Waiting): Upstream {
  return { kind: 'ended', credential: state.credential };
}

function waitMs(times: number, firstMs: number): number {
  return Math.min(LOOK_MS.max, firstMs * 2 ** Math.min(times, 8));
}

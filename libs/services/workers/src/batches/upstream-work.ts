import { Inject, Injectable } from '@nestjs/common';
import { parseSpelled } from '@gateway/json-body';
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
import { CLOCK, textLines } from '@gateway/platform';
import { contentOf, FileStore } from '../files/files.store.js';
import { BatchAnswers, type LineAnswer } from './batch-answers.js';
import { BatchHold } from './batch-hold.js';
import { BatchStore, type Batch, type Upstream } from './batches.store.js';
import { WorkersConfig } from '../workers.config.js';

type Waiting = Extract<Upstream, { kind: 'at' }>;

interface PollStep {
  batch: Batch;
  worker: string;
  /** State of the row. */
  at: Waiting;
  /** It was cancelled, or its time is over. */
  hasToEnd: boolean;
}

const UPLOAD_TRIES_MAX = 4;
const UPLOAD_WAIT_MS = 2_000;
/** Pauses between polls; they grow, and stay below the time after which a hold lapses. */
const LOOK_MS = { first: 1_000, max: 30_000 };
const FAILED_MS = 5_000;
/**
 * A begin of which nobody knows is over after this time: the edge takes less for it. One that failed at once is waited for as
 * long: the provider may have begun it, and lists it a while later.
 */
const BEGIN_MS = 35_000;
/** Failures in a row after which a batch that has to end does so without its provider's answers. */
const FAILURES_MAX = 30;
/**
 * Time after a batch had to end until it ends without its provider's: by then the provider's own day for it is over as
 * well.
 */
const LATE_MS = 86_400_000;
const COPY_BYTES_MAX = 64 * 1_048_576;
const ANSWER_BYTES_MAX = 32 * 1_048_576;

/** The input of a batch that its provider runs: a copy, so that nobody takes it away before what was done is billed. */
export function copyOf({ id, account_id }: Batch): ObjectKey {
  return objectName('batches', account_id, `${id}.jsonl`);
}

/** The same lines as a provider takes them that takes them with the call that begins the batch. */
function linesOf({ id, account_id }: Batch): ObjectKey {
  return objectName('batches', account_id, `${id}-lines.jsonl`);
}

/**
 * Batches that a provider runs itself: upload, begin, look until it has ended, fetch the answers. Where each stands is in its
 * row, so the next worker goes on. A poll step is short; between two steps no worker has the lease.
 */
@Injectable()
export class UpstreamWork {
  constructor(
    private readonly batches: BatchStore,
    private readonly answers: BatchAnswers,
    private readonly files: FileStore,
    private readonly objects: ObjectStore,
    private readonly inference: Inference,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly config: WorkersConfig,
  ) {}

  /** True where a provider has its lines; false where they are run one by one. */
  async upload(batch: Batch, worker: string, signal: AbortSignal): Promise<boolean> {
    const { batches } = this;
    const answer = (await this.copy(batch)) ? await this.uploaded(batch, signal) : null;
    if (answer?.kind === 'at') {
      const upstream = {
        kind: 'at',
        state: answer.state,
        begunMs: null,
        looks: 0,
        failures: 0,
        isCancelled: false,
      } as const;
      await batches.park(batch.id, worker, upstream, 0);
      return true;
    }
    await this.leave({ batch, worker }, null);
    return false;
  }

  /** Removes what was stored for its provider. */
  async remove(batch: Batch): Promise<void> {
    const { objects } = this;
    await objects.remove(copyOf(batch));
    await objects.remove(linesOf(batch));
  }

  /** Runs one step. A failure is retried at the next poll. */
  async pollStep(batch: Batch, worker: string): Promise<void> {
    const { batches, inference, clock, config } = this;
    const polled: PollStep = { batch, worker, at: batch.upstream as Waiting, hasToEnd: false };
    polled.hasToEnd = batch.status === 'cancelling' || clock.now() >= batch.expires_at.getTime();
    const hold = new BatchHold(inference, clock, { batch, linesAtOnce: config.WORKERS_BATCH_LINES });
    // Also of one that has to end: what was answered until then is posted.
    await hold.keep().catch(() => undefined);
    try {
      // The answers of a large one take longer to come than a hold lasts.
      await hold.renewed(() => this.step(polled));
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      const { at, hasToEnd } = polled;
      const failures = at.failures + 1;
      if (hasToEnd && failures >= FAILURES_MAX) return batches.setUpstream(batch.id, worker, endOf(at));
      await batches.park(batch.id, worker, { ...at, failures }, waitMs(failures, FAILED_MS));
    }
  }

  private async step(polled: PollStep): Promise<void> {
    const { batch, at, hasToEnd } = polled;
    if (at.state.id === null && at.state.maybe === undefined)
      return at.begunMs === null ? this.begin(polled) : this.find(polled, at.begunMs);
    // Never cancels an upstream batch that may not be ours.
    if (hasToEnd && !at.isCancelled && at.state.id !== null) {
      await this.ask(batch, 'cancel', at);
      return this.park(polled, { ...at, isCancelled: true, looks: 0 });
    }
    const seen = await this.ask(batch, 'look', at);
    if (seen.kind === 'at' && (!hasToEnd || (at.state.id !== null && !this.isLate(batch))))
      return this.park(polled, { ...at, state: seen.state, looks: at.looks + 1 });
    // None of those that might have been it was: the lines are run one by one.
    if (seen.kind === 'none') return this.leave(polled, null);
    if (seen.kind === 'ended' && seen.results !== null) await this.keep(batch, seen.results as ObjectKey);
    return this.leave(polled, endOf(at));
  }

  /** Its provider has not ended it, and nobody waits for that any more. */
  private isLate({ cancelling_at, expires_at }: Batch): boolean {
    return this.clock.now() >= (cancelling_at ?? expires_at).getTime() + LATE_MS;
  }

  /** Begins the provider's batch. The row says before that it is requested: the next worker looks for it. */
  private async begin(polled: PollStep): Promise<void> {
    const { batch, worker, hasToEnd } = polled;
    if (hasToEnd) return this.leave(polled, null);
    polled.at = { ...polled.at, begunMs: this.clock.now() };
    await this.batches.setUpstream(batch.id, worker, polled.at);
    const begun = await this.ask(batch, 'create', polled.at);
    // It is refused: the lines are run one by one.
    if (begun.kind !== 'at') return this.leave(polled, null);
    return this.park(polled, { ...polled.at, state: begun.state });
  }

  private async find(polled: PollStep, begunMs: number): Promise<void> {
    const { batch, worker, at } = polled;
    const { batches, clock } = this;
    const leftMs = begunMs + BEGIN_MS - clock.now();
    if (leftMs > 0) return batches.park(batch.id, worker, at, leftMs);
    const found = await this.ask(batch, 'find', at);
    if (found.kind !== 'at') return this.begin(polled);
    if (found.state.id !== null) return this.park(polled, { ...at, state: found.state });
    const maybe = await batches.unclaimed(batch.id, found.state.maybe ?? []);
    if (maybe.length === 0) return this.begin(polled);
    return this.park(polled, { ...at, state: { ...found.state, maybe } });
  }

  /** Releases the batch until the next poll. */
  private park({ batch, worker }: PollStep, at: Waiting): Promise<void> {
    return this.batches.park(batch.id, worker, { ...at, failures: 0 }, waitMs(at.looks, LOOK_MS.first));
  }

  /** Hands the batch to the worker that runs or prices its lines. */
  private async leave(
    { batch, worker }: Pick<PollStep, 'batch' | 'worker'>,
    upstream: Upstream | null,
  ): Promise<void> {
    await this.batches.setUpstream(batch.id, worker, upstream);
    if (upstream === null) await this.remove(batch);
  }

  private ask(batch: Batch, step: UpstreamBatchCall['step'], at: Waiting | null): Promise<UpstreamBatch> {
    const { id: batch_id, key_id, account_id, request_id, endpoint } = batch;
    return this.inference.upstreamBatch({
      ...{ key_id, account_id, request_id, endpoint, batch_id, step },
      ...{ state: at?.state ?? null, input: copyOf(batch), lines: linesOf(batch) },
    });
  }

  /** Null where it cannot be asked for a while. */
  private async uploaded(batch: Batch, signal: AbortSignal): Promise<UpstreamBatch | null> {
    for (let tries = 1; tries <= UPLOAD_TRIES_MAX; tries += 1) {
      try {
        return await this.ask(batch, 'upload', null);
      } catch (failure) {
        if (!(failure instanceof ApiError)) throw failure;
        await this.clock.sleep(UPLOAD_WAIT_MS * tries, signal);
      }
    }
    return null;
  }

  /** False where there is nothing to copy. */
  private async copy(batch: Batch): Promise<boolean> {
    const { files, objects } = this;
    const file = await files.read(batch.key_id, batch.input_file_id);
    const found = file === null ? null : await objects.get(contentOf(file));
    if (found === null) return false;
    await objects.put(copyOf(batch), found.content, { maxBytes: COPY_BYTES_MAX });
    return true;
  }

  private async keep(batch: Batch, results: ObjectKey): Promise<void> {
    const { answers, objects } = this;
    const found = await objects.get(results);
    // It was kept before, and is gone since.
    if (found === null) return;
    const lines = async function* (): AsyncGenerator<LineAnswer> {
      for await (const text of textLines(found.content, ANSWER_BYTES_MAX))
        yield parseSpelled(text) as LineAnswer;
    };
    await answers.keep(batch.id, lines());
    await objects.remove(results);
  }
}

function endOf({ state }: Waiting): Upstream {
  return { kind: 'ended', credential: state.credential, id: state.id };
}

function waitMs(times: number, firstMs: number): number {
  return Math.min(LOOK_MS.max, firstMs * 2 ** Math.min(times, 8));
}

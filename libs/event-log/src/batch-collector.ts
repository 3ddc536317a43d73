import type { Clock, ConsumedRecord, Subscription } from '@gateway/contracts';

/** Records of one partition, in order, waiting for the handler. */
interface Segment {
  records: ConsumedRecord[];
  /** Number of records that are handled and committed. */
  done: number;
  onHandled(): void;
}

/** A caller that brought records while many waited. */
interface Waiter {
  resolve(): void;
  reject(reason: unknown): void;
}

export interface CollectorDeps {
  clock: Clock;
  /** Commits, per partition, what follows the last record of the batch. */
  commit(batch: ConsumedRecord[]): Promise<void>;
  backOffMs: (failures: number) => number;
  onFault: (error: unknown) => void;
}

/** Thrown to whoever waits for the budget where nothing more will be handled. */
export class CollectorStopped extends Error {}

/** Number of batches that may wait, with the current one, before a fetch is held up. */
const BATCHES_HELD = 2;

/**
 * Makes batches across partitions: up to maxBatch records, or what has come since the batch before. One handler at a time.
 * Holds BATCHES_HELD batches and a fetch of each partition at most.
 */
export class BatchCollector {
  private segments: Segment[] = [];
  private waiters: Waiter[] = [];
  private running: Promise<void> | null = null;
  private wake: (() => void) | null = null;
  private readonly stopping = new AbortController();
  private isAbandoned = false;
  private beganAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly subscription: Subscription,
    private readonly deps: CollectorDeps,
  ) {}

  /** Resolves when more may be added. `onHandled` hears when each of these records is handled. */
  add(records: ConsumedRecord[], onHandled: () => void): Promise<void> {
    if (this.stopping.signal.aborted) return Promise.reject(new CollectorStopped());
    this.segments.push({ records, done: 0, onHandled });
    this.running ??= this.run();
    this.wake?.();
    if (this.hasRoom()) return Promise.resolve();
    return new Promise((resolve, reject) => this.waiters.push({ resolve, reject }));
  }

  /** Drops what no handler has begun of these: they come again. */
  drop(records: ConsumedRecord[]): void {
    this.segments = this.segments.filter((segment) => segment.records !== records);
  }

  /** The batch under way is finished and committed; nothing else begins. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.wake?.();
    await this.running;
    this.clear();
  }

  /** Ignores all later results of a handler that did not end in time. */
  abandon(): void {
    this.isAbandoned = true;
    this.clear();
  }

  private clear(): void {
    this.segments = [];
    for (const waiter of this.waiters.splice(0)) waiter.reject(new CollectorStopped());
  }

  private async run(): Promise<void> {
    // Looked at again after each end, because a segment may have come in between.
    do await this.handleAll();
    while (this.segments.length > 0 && !this.stopping.signal.aborted && !this.isAbandoned);
    this.running = null;
  }

  private async handleAll(): Promise<void> {
    const { signal } = this.stopping;
    let failures = 0;
    while (this.segments.length > 0 && !signal.aborted) {
      await this.linger();
      if (signal.aborted) return;
      const steps = this.next();
      const batch = steps.flatMap(({ segment, count }) =>
        segment.records.slice(segment.done, segment.done + count),
      );
      if (batch.length === 0) continue;
      try {
        await this.subscription.handler(batch);
        failures = 0;
      } catch (error) {
        // The same records come again first: none of them was marked.
        failures += 1;
        this.deps.onFault(error);
        await this.deps.clock.sleep(this.deps.backOffMs(failures), signal).catch(() => undefined);
        continue;
      }
      if (this.isAbandoned) return;
      await this.finish(steps, batch);
    }
  }

  /** Commits the steps; a failed commit is made with the next one, or the records come again. */
  private async finish(steps: { segment: Segment; count: number }[], batch: ConsumedRecord[]): Promise<void> {
    await this.deps.commit(batch).catch(this.deps.onFault);
    for (const { segment, count } of steps) {
      segment.done += count;
      if (segment.done < segment.records.length) continue;
      this.drop(segment.records);
      segment.onHandled();
    }
    if (this.hasRoom()) for (const waiter of this.waiters.splice(0)) waiter.resolve();
  }

  private next(): { segment: Segment; count: number }[] {
    const steps: { segment: Segment; count: number }[] = [];
    let left = this.subscription.maxBatch;
    for (const segment of this.segments) {
      if (left === 0) break;
      const count = Math.min(left, segment.records.length - segment.done);
      left -= count;
      steps.push({ segment, count });
    }
    return steps;
  }

  private async linger(): Promise<void> {
    const { clock } = this.deps;
    const { maxBatch, lingerMs } = this.subscription;
    const until = this.beganAt + lingerMs;
    while (this.waiting() < maxBatch && !this.stopping.signal.aborted) {
      const left = until - clock.monotonic();
      if (left <= 0) break;
      const woken = new AbortController();
      this.wake = () => woken.abort();
      await clock.sleep(left, woken.signal).catch(() => undefined);
    }
    this.beganAt = clock.monotonic();
  }

  private hasRoom(): boolean {
    return this.waiting() <= BATCHES_HELD * this.subscription.maxBatch;
  }

  private waiting(): number {
    return this.segments.reduce((sum, { records, done }) => sum + records.length - done, 0);
  }
}

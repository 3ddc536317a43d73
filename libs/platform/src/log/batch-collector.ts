import type { Clock, ConsumedRecord, Subscription } from '@gateway/contracts';

/** Records of one partition, in order, waiting for the handler. */
interface Segment {
  records: ConsumedRecord[];
  /** How many of them are handled and committed. */
  done: number;
  onDone(record: ConsumedRecord): void;
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

/** Thrown to a partition whose records will not be handled here: the consumer stops or lost the partition. */
export class CollectorStopped extends Error {}

/**
 * Makes batches across partitions: up to maxBatch records, or what has come within the linger. One handler at a time.
 * Holds no more than each partition's fetch under way.
 */
export class BatchCollector {
  private segments: Segment[] = [];
  private running: Promise<void> | null = null;
  private wake: (() => void) | null = null;
  private readonly stopping = new AbortController();
  private isAbandoned = false;

  constructor(
    private readonly subscription: Subscription,
    private readonly deps: CollectorDeps,
  ) {}

  /** Resolves when each record is handled and committed. `onDone` hears of the last one of each step. */
  add(records: ConsumedRecord[], onDone: (record: ConsumedRecord) => void): Promise<void> {
    if (this.stopping.signal.aborted) return Promise.reject(new CollectorStopped());
    return new Promise((resolve, reject) => {
      this.segments.push({ records, done: 0, onDone, resolve, reject });
      this.running ??= this.run();
      this.wake?.();
    });
  }

  /** Drops what no handler has begun: its partition went to another consumer, or comes again. */
  drop(records: ConsumedRecord[]): void {
    this.segments = this.segments.filter((segment) => segment.records !== records);
  }

  /** The batch under way is finished and committed; nothing else begins. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.wake?.();
    await this.running;
    for (const segment of this.segments.splice(0)) segment.reject(new CollectorStopped());
  }

  /** What a handler that did not end in time does from now on counts for nothing. */
  abandon(): void {
    this.isAbandoned = true;
    for (const segment of this.segments.splice(0)) segment.reject(new CollectorStopped());
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

  private async finish(steps: { segment: Segment; count: number }[], batch: ConsumedRecord[]): Promise<void> {
    try {
      await this.deps.commit(batch);
    } catch (error) {
      for (const { segment } of steps) this.settle(segment, error);
      return;
    }
    for (const { segment, count } of steps) {
      segment.done += count;
      segment.onDone(segment.records[segment.done - 1]);
      if (segment.done === segment.records.length) this.settle(segment);
    }
  }

  private settle(segment: Segment, error?: unknown): void {
    this.segments = this.segments.filter((other) => other !== segment);
    if (error === undefined) segment.resolve();
    else segment.reject(error);
  }

  private next(): { segment: Segment; count: number }[] {
    const steps: { segment: Segment; count: number }[] = [];
    let room = this.subscription.maxBatch;
    for (const segment of this.segments) {
      if (room === 0) break;
      const count = Math.min(room, segment.records.length - segment.done);
      room -= count;
      steps.push({ segment, count });
    }
    return steps;
  }

  private async linger(): Promise<void> {
    const { clock } = this.deps;
    const { maxBatch, lingerMs } = this.subscription;
    const until = clock.monotonic() + lingerMs;
    while (this.waiting() < maxBatch && !this.stopping.signal.aborted) {
      const left = until - clock.monotonic();
      if (left <= 0) return;
      const woken = new AbortController();
      this.wake = () => woken.abort();
      await clock.sleep(left, woken.signal).catch(() => undefined);
    }
  }

  private waiting(): number {
    return this.segments.reduce((sum, { records, done }) => sum + records.length - done, 0);
  }
}

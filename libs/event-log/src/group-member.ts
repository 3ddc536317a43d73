import type { Clock, ConsumedRecord, Subscription } from '@gateway/contracts';
import { within } from './within.js';
import { PARTITIONS, type TopicGroup } from './topic-buffer.js';

interface MemberDeps {
  clock: Clock;
  stopTimeoutMs: number;
  backOffMs: (failures: number) => number;
  onFault: (error: unknown) => void;
  /** Partitions became free: other members may have work. */
  onChange(): void;
}

interface Taken {
  group: TopicGroup;
  partition: number;
  count: number;
}

/** One consumer of a group: takes batches of its partitions, commits after the handler. */
export class GroupMember {
  private wakeUp: (() => void) | null = null;
  private running: Promise<void> | null = null;
  private readonly stopping = new AbortController();
  private isAbandoned = false;
  private beganAt = Number.NEGATIVE_INFINITY;
  private taken: Taken[] = [];

  constructor(
    private readonly groups: TopicGroup[],
    private readonly subscription: Subscription,
    private readonly deps: MemberDeps,
  ) {
    for (const group of groups) group.members.push(this);
  }

  start(): void {
    this.running ??= this.run();
  }

  wake(): void {
    this.wakeUp?.();
  }

  /** Waits for the batch under way, for a while; one that does not end is not committed and comes to another member. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.wake();
    const { clock, stopTimeoutMs } = this.deps;
    await within(this.running ?? Promise.resolve(), { clock, timeoutMs: stopTimeoutMs }).catch(() => {
      this.isAbandoned = true;
      this.release();
    });
    for (const { members } of this.groups) {
      const index = members.indexOf(this);
      if (index >= 0) members.splice(index, 1);
    }
    this.deps.onChange();
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    let failures = 0;
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => (this.wakeUp = resolve));
      const batch = await this.take();
      if (signal.aborted) break;
      if (batch.length === 0) {
        await woken;
        continue;
      }
      try {
        await this.subscription.handler(batch);
        failures = 0;
        if (!this.isAbandoned) this.commit();
      } catch (error) {
        failures += 1;
        this.deps.onFault(error);
        await this.deps.clock.sleep(this.deps.backOffMs(failures), signal).catch(() => undefined);
      }
      if (!this.isAbandoned) this.release();
    }
    if (!this.isAbandoned) this.release();
  }

  /** Takes at most a batch; a smaller one not before the linger since the batch before has passed. */
  private async take(): Promise<ConsumedRecord[]> {
    const { maxBatch, lingerMs } = this.subscription;
    if (this.available(maxBatch) === 0) return [];
    const { clock } = this.deps;
    const left = this.beganAt + lingerMs - clock.monotonic();
    if (left > 0 && this.available(maxBatch) < maxBatch)
      await clock.sleep(left, this.stopping.signal).catch(() => undefined);
    this.beganAt = clock.monotonic();
    const batch: ConsumedRecord[] = [];
    for (const [group, partition] of this.own()) {
      const place = group.partitions[partition];
      if (place.isTaken || batch.length >= maxBatch) continue;
      const records = group.topic.read(partition, place.committed, maxBatch - batch.length);
      if (records.length === 0) continue;
      place.isTaken = true;
      this.taken.push({ group, partition, count: records.length });
      batch.push(...records);
    }
    return batch;
  }

  private available(limit: number): number {
    let count = 0;
    for (const [group, partition] of this.own()) {
      const place = group.partitions[partition];
      if (!place.isTaken) count += group.topic.read(partition, place.committed, limit).length;
      if (count >= limit) break;
    }
    return count;
  }

  private *own(): Generator<[TopicGroup, number]> {
    for (const group of this.groups) {
      const index = group.members.indexOf(this);
      for (let partition = index; index >= 0 && partition < PARTITIONS; partition += group.members.length) {
        yield [group, partition];
      }
    }
  }

  private commit(): void {
    for (const { group, partition, count } of this.taken) {
      group.partitions[partition].committed += count;
      group.topic.trim(partition);
    }
  }

  private release(): void {
    for (const { group, partition } of this.taken) group.partitions[partition].isTaken = false;
    this.taken = [];
    this.deps.onChange();
  }
}

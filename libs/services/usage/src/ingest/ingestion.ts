import { CLOCK, LOGGER } from '@gateway/platform';
import { OutboxRelay } from '@gateway/event-log';
import type { Clock, ConsumedRecord, UsageRecord } from '@gateway/contracts';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import { Projections } from '../projection/projections.js';
import { UsageMetrics } from '../usage-metrics.js';
import { readBatch, unusable, type ReadBatch } from '../posting/read-batch.js';
import { PostingStore, type Posted } from '../posting/posting.store.js';
import { Reprice } from '../posting/reprice.js';
import { PriceSample } from './price-sample.js';

/** One transaction. Money is summed over it: larger costs fewer rows per event and lets its accounts wait longer. */
export const BATCH_MAX = 8_000;
/** One statement: PostgreSQL writes it while the next is read. */
const PART_MAX = 1_000;

/** Posts what the edges and workers have finished: records in, ledger, projection, then the offsets. */
@Injectable()
export class Ingestion implements OnApplicationShutdown {
  /** The check of the newest batch. */
  private checking: Promise<void> = Promise.resolve();
  private readonly sample: PriceSample;

  constructor(
    @Inject(PostingStore) private readonly store: Pick<PostingStore, 'post'>,
    @Inject(Projections) private readonly projections: Pick<Projections, 'report'>,
    @Inject(Reprice) private readonly reprice: Pick<Reprice, 'check'>,
    @Inject(UsageMetrics) private readonly metrics: Pick<UsageMetrics, 'batchPosted'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(OutboxRelay) private readonly outbox: Pick<OutboxRelay, 'wake'>,
  ) {
    this.sample = new PriceSample(clock);
  }

  /**
   * Rejects only where the whole batch shall come again: PostgreSQL is away. The prices of a sample are checked while PostgreSQL
   * writes the next batch; not more than one batch waits for it.
   */
  async apply(records: readonly ConsumedRecord[]): Promise<void> {
    const { posted, applied } = await this.post(records);
    this.outbox.wake();
    await this.projections.report(
      applied.usage.map(({ usage }) => usage),
      applied.unusable,
      posted,
    );
    this.report(records.length, posted.fresh, applied);
    const before = this.checking;
    this.checking = this.reprice.check(this.sample.take(posted.fresh));
    await before;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.checking;
  }

  private async post(records: readonly ConsumedRecord[]): Promise<{ posted: Posted; applied: ReadBatch }> {
    const parts: ReadBatch[] = [];
    try {
      const posted = await this.store.post(inParts(records, parts));
      return { posted, applied: joined(parts) };
    } catch (failure) {
      if (!isRefusal(failure)) throw failure;
      return this.postHalves(readBatch(records), failure);
    }
  }

  /** A batch that PostgreSQL refuses is halved until the record at fault stands alone. */
  private async postHalves(
    batch: ReadBatch,
    refusal: Error,
  ): Promise<{ posted: Posted; applied: ReadBatch }> {
    const fresh: UsageRecord[] = [];
    const applied: ReadBatch[] = [];
    for (const half of split(batch, refusal)) {
      try {
        fresh.push(...(await this.store.post([half])).fresh);
        applied.push(half);
      } catch (failure) {
        if (!isRefusal(failure)) throw failure;
        const done = await this.postHalves(half, failure);
        fresh.push(...done.posted.fresh);
        applied.push(done.applied);
      }
    }
    // The second half has moved on what the first answered: these are read again.
    return { posted: { fresh, balances: [], totals: [] }, applied: joined(applied) };
  }

  private report(records: number, fresh: readonly UsageRecord[], applied: ReadBatch): void {
    const now = this.clock.now();
    const lags = fresh.map((unit) => now - Date.parse(unit.created_at) - unit.latency_ms);
    this.metrics.batchPosted({
      records,
      events: fresh.length,
      deadLetters: applied.unusable.length,
      lagMs: lags.length === 0 ? null : Math.max(...lags),
    });
    for (const { reason, record, unit } of applied.unusable) {
      const { topic, partition, offset } = record;
      this.logger.error({ reason, topic, partition, offset, unit }, 'a record became a dead letter');
    }
  }
}

/** Reads one part when it is asked for, and keeps it in `read`. */
function* inParts(records: readonly ConsumedRecord[], read: ReadBatch[]): Iterable<ReadBatch> {
  for (let start = 0; start < records.length; start += PART_MAX) {
    const part = readBatch(records.slice(start, start + PART_MAX));
    read.push(part);
    yield part;
  }
}

/** Classes 22 and 23 of PostgreSQL: the data is at fault, and would be again. */
function isRefusal(failure: unknown): failure is Error {
  if (failure instanceof RangeError) return true;
  const code = failure instanceof Error && 'code' in failure ? failure.code : null;
  return typeof code === 'string' && /^2[23]/.test(code);
}

/** Halves of a batch; a single record becomes unusable. Never called with an empty batch: that one posts nothing. */
function split(batch: ReadBatch, failure: Error): [ReadBatch, ReadBatch] {
  const { usage, rejections, unusable: dead } = batch;
  const count = usage.length + rejections.length;
  const empty = { usage: [], rejections: [], unusable: [] };
  if (count === 0) throw failure;
  if (count === 1) {
    const found = [
      ...usage.map(({ record, usage: value }) =>
        unusable({ record, reason: failure.message, data: { ...value } }),
      ),
      ...rejections.map(({ record, rejection }) =>
        unusable({ record, reason: failure.message, data: { ...rejection } }),
      ),
    ];
    return [{ ...empty, unusable: [...dead, ...found] }, empty];
  }
  const half = Math.ceil(usage.length / 2);
  const middle = Math.floor(rejections.length / 2);
  return [
    { usage: usage.slice(0, half), rejections: rejections.slice(0, middle), unusable: dead },
    { usage: usage.slice(half), rejections: rejections.slice(middle), unusable: [] },
  ];
}

function joined(batches: readonly ReadBatch[]): ReadBatch {
  return {
    usage: batches.flatMap(({ usage }) => usage),
    rejections: batches.flatMap(({ rejections }) => rejections),
    unusable: batches.flatMap(({ unusable: dead }) => dead),
  };
}

import type { Clock, ConsumedRecord, UsageRecord } from '@gateway/contracts';
import type { Logger } from 'pino';
import type { Mirrors } from '../mirror/mirrors.js';
import type { UsageMetrics } from '../usage-metrics.js';
import { readBatch, unusable, type ReadBatch } from './read-batch.js';
import type { Posted, PostingStore } from './posting.store.js';
import type { Reprice } from './reprice.js';

interface Deps {
  store: PostingStore;
  mirrors: Mirrors;
  reprice: Pick<Reprice, 'check'>;
  metrics: Pick<UsageMetrics, 'batchPosted'>;
  clock: Clock;
  logger: Logger;
  /** The outbox has rows: they may leave. */
  nudge: () => void;
}

const TRANSACTION_MAX = 1_000;
/** Two transactions of a batch overlap: while PostgreSQL writes the events of one, the other is read and moved. */
export const BATCH_MAX = 2 * TRANSACTION_MAX;

/** Posts what the edges and workers have finished: records in, ledger, mirror, then the offsets. */
export class Ingestion {
  constructor(private readonly deps: Deps) {}

  /** Rejects only where the whole batch shall come again: PostgreSQL is away. */
  async apply(records: readonly ConsumedRecord[]): Promise<void> {
    const parts: Promise<void>[] = [];
    for (let start = 0; start < records.length; start += TRANSACTION_MAX)
      parts.push(this.applyPart(records.slice(start, start + TRANSACTION_MAX)));
    // All have ended before the batch may come again.
    const ended = await Promise.allSettled(parts);
    for (const part of ended) if (part.status === 'rejected') throw part.reason;
  }

  private async applyPart(records: readonly ConsumedRecord[]): Promise<void> {
    const batch = readBatch(records);
    const { posted, applied } = await this.post(batch);
    this.deps.nudge();
    await this.deps.mirrors.tell(
      applied.usage.map(({ usage }) => usage),
      applied.unusable,
      posted,
    );
    this.report(records.length, posted.fresh, applied);
    await this.deps.reprice.check(posted.fresh);
  }

  /** One transaction; a batch that PostgreSQL refuses is halved until the record at fault stands alone. */
  private async post(batch: ReadBatch): Promise<{ posted: Posted; applied: ReadBatch }> {
    try {
      return { posted: await this.deps.store.post(batch), applied: batch };
    } catch (failure) {
      if (!isRefusal(failure)) throw failure;
      const halves = split(batch, failure);
      const done = [await this.post(halves[0]), await this.post(halves[1])];
      return {
        posted: {
          fresh: done.flatMap(({ posted }) => posted.fresh),
          // The second half has moved on what the first answered: these are read again.
          balances: [],
          totals: [],
        },
        applied: joined(done.map(({ applied }) => applied)),
      };
    }
  }

  private report(records: number, fresh: readonly UsageRecord[], applied: ReadBatch): void {
    const now = this.deps.clock.now();
    const lags = fresh.map((unit) => now - Date.parse(unit.created_at) - unit.latency_ms);
    this.deps.metrics.batchPosted({
      records,
      events: fresh.length,
      deadLetters: applied.unusable.length,
      lagMs: lags.length === 0 ? null : Math.max(...lags),
    });
    for (const { reason, record, unit } of applied.unusable) {
      const { topic, partition, offset } = record;
      this.deps.logger.error({ reason, topic, partition, offset, unit }, 'a record became a dead letter');
    }
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

import { ApiError } from '@gateway/contracts';
import { Reprice } from '../posting/reprice.js';
import { isStatementCanceled } from '../postgres/statement-canceled.js';
import { ReadReplica } from '../postgres/read-replica.js';
import { Inject, Injectable } from '@nestjs/common';
import { EventsStore } from './events.store.js';
import { RejectionsStore } from './rejections.store.js';
import { SeriesStore } from './series.store.js';
import { TrendStore } from './trend.store.js';

/** Reads of one database. */
export interface HistoryStores {
  events: EventsStore;
  rejections: RejectionsStore;
  series: SeriesStore;
  trends: TrendStore;
}

/**
 * History of usage, from the primary or, where an answer may be some seconds behind, from the read replica. The primary
 * answers what a replica that is away or behind does not: as many reads at once as without one.
 */
@Injectable()
export class History {
  private readonly primary: HistoryStores;
  private readonly copy: HistoryStores | null;

  constructor(
    events: EventsStore,
    rejections: RejectionsStore,
    series: SeriesStore,
    trends: TrendStore,
    reprice: Reprice,
    @Inject(ReadReplica) private readonly replica: ReadReplica | null,
  ) {
    this.primary = { events, rejections, series, trends };
    this.copy = replica && {
      events: new EventsStore(replica.database, reprice),
      rejections: new RejectionsStore(replica.database),
      series: new SeriesStore(replica.database),
      trends: new TrendStore(replica.database),
    };
  }

  /** Reads what is committed now; from the replica where `mayLag`. */
  async read<T>(mayLag: boolean, ask: (stores: HistoryStores) => Promise<T>): Promise<T> {
    const copy = mayLag ? this.usableCopy() : null;
    if (copy === null) return ask(this.primary);
    try {
      const answer = await ask(copy);
      this.replica?.answered('replica');
      return answer;
    } catch (failure) {
      this.requireFallback(failure);
      return ask(this.primary);
    }
  }

  /** Reads part by part, from the replica where it can: one that fails after the first part ends the read. */
  async *parts<T>(ask: (stores: HistoryStores) => AsyncIterable<T>): AsyncGenerator<T> {
    const copy = this.usableCopy();
    let isBegun = false;
    try {
      for await (const part of ask(copy ?? this.primary)) {
        isBegun = true;
        yield part;
      }
      if (copy !== null) this.replica?.answered('replica');
      return;
    } catch (failure) {
      if (copy === null) throw failure;
      this.requireFallback(failure);
      if (isBegun) throw failure;
    }
    yield* ask(this.primary);
  }

  private usableCopy(): HistoryStores | null {
    if (this.copy === null || this.replica === null) return null;
    if (this.replica.isUsable()) return this.copy;
    this.replica.answered('primary_replica_behind');
    return null;
  }

  /** Throws a refusal of the question, and of a statement that took too long: the primary would take as long. */
  private requireFallback(failure: unknown): void {
    if (failure instanceof ApiError || isStatementCanceled(failure)) throw failure;
    this.replica?.failed(failure);
    this.replica?.answered('primary_replica_failed');
  }
}

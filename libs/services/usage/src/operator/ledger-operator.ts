import type { CatalogueReader, Clock, ConsumedRecord, LimitStore, Random } from '@gateway/contracts';
import type { Logger } from 'pino';
import { PostingStore } from '../posting/posting.store.js';
import { Reprice } from '../posting/reprice.js';
import { releaseOf } from '@gateway/platform';
import { partitionEvents } from '../partitions/partition-events.js';
import { Ingestion } from '../ingest/ingestion.js';
import { ActiveAccounts } from '../projection/active-accounts.js';
import { narrowEvents } from '../posting/event-form.js';
import { CarriedScopes } from '../posting/carried-scopes.js';
import { ProjectionStore } from '../projection/projection.store.js';
import { Projections } from '../projection/projections.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import { FullReconciliation, type FullProof } from '../reconcile/full-reconciliation.js';
import { applyDeadLetter, closeDeadLetter, deadLetters, type DeadLetter } from './dead-letter-replay.js';
import { giveUp, missingRanges, type MissingRange } from './give-up.js';

interface Options {
  databaseUrl: string;
  limits: LimitStore;
  /** Reader of price snapshots; null: no event is priced again. */
  catalogue: Pick<CatalogueReader, 'snapshotById'> | null;
  clock: Clock;
  random: Random;
  logger: Logger;
}

const NO_METRICS = {
  batchPosted: () => undefined,
  projectionFailed: () => undefined,
  projectionDebtsLeft: () => undefined,
  priced: () => undefined,
};
const CONNECTIONS = 3;
/** A full proof reads everything that is stored. */
const STATEMENT_TIMEOUT_MS = 3_600_000;

/** Actions of an operator on the ledger, beside the running service. */
export class LedgerOperator {
  private readonly database: UsageDatabase;
  private readonly projections: Projections;
  private readonly store: PostingStore;
  private readonly reconciliation: FullReconciliation;
  private readonly ingestion: Ingestion;

  constructor(private readonly options: Options) {
    const { databaseUrl, limits, catalogue, clock, random, logger } = options;
    const database = new UsageDatabase({
      url: databaseUrl,
      maxConnections: CONNECTIONS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      onIdleError: (error) => logger.warn({ err: error }, 'an idle connection to PostgreSQL was lost'),
    });
    const projectionStore = new ProjectionStore(database, clock, new CarriedScopes(database, clock));
    const accounts = new ActiveAccounts(clock);
    const metrics = NO_METRICS;
    this.database = database;
    this.projections = new Projections(database, projectionStore, limits, accounts, metrics, clock, logger);
    this.store = new PostingStore(database, clock, random);
    const { projections, store } = this;
    this.ingestion = new Ingestion(
      store,
      projections,
      { check: async () => undefined },
      metrics,
      clock,
      logger,
      {
        wake: () => undefined,
      },
    );
    const reprice = new Reprice(metrics, logger, catalogue);
    this.reconciliation = new FullReconciliation(
      database,
      projectionStore,
      projections,
      limits,
      reprice,
      store,
      clock,
      random,
    );
  }

  reconcile(options: { journals: readonly string[]; isRepair: boolean }): Promise<FullProof> {
    return this.reconciliation.run(options);
  }

  /** Applies records as the running service does, for a topic that is replayed from a file. Each unit counts once. */
  apply(records: readonly ConsumedRecord[]): Promise<void> {
    return this.ingestion.apply(records);
  }

  deadLetters(): Promise<DeadLetter[]> {
    return deadLetters(this.database);
  }

  applyDeadLetter(digest: string, value: string | null): Promise<{ isNew: boolean }> {
    const { database, store, projections } = this;
    return applyDeadLetter(digest, value, { database, store, projections, clock: this.options.clock });
  }

  closeDeadLetter(digest: string, reason: string): Promise<void> {
    return closeDeadLetter(digest, reason, { database: this.database, clock: this.options.clock });
  }

  missingRanges(epoch: { producer: string; epoch: string; through?: number }): Promise<MissingRange[]> {
    return missingRanges(epoch, this.database);
  }

  giveUp(epoch: {
    producer: string;
    epoch: string;
    through?: number;
    reason: string;
  }): Promise<MissingRange[]> {
    const { clock, random } = this.options;
    return giveUp(epoch, { database: this.database, clock, random });
  }

  /** Makes partitions of the events; without `isDone` it says how. */
  partition({ isDone, print }: { isDone: boolean; print: (line: string) => void }): Promise<void> {
    const { database } = this;
    const release = releaseOf(import.meta.dirname);
    return partitionEvents({ database, clock: this.options.clock, release, isDone, print });
  }

  /** Makes events narrow from then on; without `isDone` it says what that means. */
  narrow({ isDone, print }: { isDone: boolean; print: (line: string) => void }): Promise<void> {
    return narrowEvents({
      database: this.database,
      release: releaseOf(import.meta.dirname),
      isDone,
      print,
    });
  }

  async close(): Promise<void> {
    await this.database.onApplicationShutdown();
    await this.options.limits.close();
  }
}

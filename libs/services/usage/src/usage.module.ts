import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { Funds, RequestContents, type Clock, type Random } from '@gateway/contracts';
import { databaseProvider, IdempotencyTable } from '@gateway/database';
import { outboxRelay } from '@gateway/event-log';
import { CLOCK, LOGGER, RANDOM } from '@gateway/platform';
import type { Logger } from 'pino';
import { ProjectionJobs } from './background/projection-jobs.js';
import { RetentionJobs } from './background/retention-jobs.js';
import { RollupJobs } from './background/rollup-jobs.js';
import { ScheduledJobs } from './background/scheduled-jobs.js';
import { CONTENT_KEKS, openContentKeks } from './contents/content-keys.js';
import { ContentsController, InternalContentsController } from './contents/contents.controller.js';
import { ContentsStore } from './contents/contents.store.js';
import { BillingController } from './payments/billing.controller.js';
import { CouponsController } from './payments/coupons.controller.js';
import { BillingStore } from './payments/billing.store.js';
import { CouponsStore } from './payments/coupons.store.js';
import { MovedBalances } from './payments/moved-balances.js';
import { PaymentsStore } from './payments/payments.store.js';
import { Recharges } from './payments/recharges.js';
import { RechargesStore } from './payments/recharges.store.js';
import { stripeClient, StripeClient } from './payments/stripe-client.js';
import { Payments } from './payments/payments.js';
import { StatementController } from './payments/statement.controller.js';
import { StatementStore } from './payments/statement.store.js';
import { StripeWebhookController } from './payments/stripe-webhook.controller.js';
import { MonthPartitions } from './partitions/month-partitions.js';
import { DayRollup } from './posting/day-rollup.js';
import { TagRollup } from './posting/tag-rollup.js';
import { ProviderRollup } from './posting/provider-rollup.js';
import { TagSumsRollup } from './posting/tag-sums-rollup.js';
import { PostingStore } from './posting/posting.store.js';
import { Reprice } from './posting/reprice.js';
import { Erasures } from './erasures/erasures.js';
import { ErasuresController } from './erasures/erasures.controller.js';
import { Ingestion } from './ingest/ingestion.js';
import { UsageConsumer } from './ingest/usage.consumer.js';
import { AccountDirectory } from './ledger/account-directory.js';
import { CreditsController } from './ledger/credits.controller.js';
import { LedgerController } from './ledger/ledger.controller.js';
import { LedgerFunds } from './ledger/ledger-funds.js';
import { LivingProducers } from './ledger/living-producers.js';
import { CarriedScopes } from './posting/carried-scopes.js';
import { LedgerStore } from './ledger/ledger.store.js';
import { ActiveAccounts } from './projection/active-accounts.js';
import { ProjectionStore } from './projection/projection.store.js';
import { Projections } from './projection/projections.js';
import { WindowRollup } from './projection/window-rollup.js';
import { ReadReplica } from './postgres/read-replica.js';
import { ReplicaMetrics } from './postgres/replica-metrics.js';
import { SCHEMA, SCHEMA_DIR, UsageDatabase } from './postgres/usage-database.js';
import { Retirements } from './retirements/retirements.js';
import { RetirementsStore } from './retirements/retirements.store.js';
import { AccountController } from './reads/account.controller.js';
import { EventsStore } from './reads/events.store.js';
import { ExportsController } from './reads/exports.controller.js';
import { ExportsStore } from './reads/exports.store.js';
import { History } from './reads/history.js';
import { Names } from './reads/names.js';
import { FairScheduler } from './reads/fair-scheduler.js';
import { SeriesController } from './reads/series.controller.js';
import { SeriesStore } from './reads/series.store.js';
import { SessionCache } from './reads/session-cache.js';
import { TrendStore } from './reads/trend.store.js';
import { Freshness } from './reads/freshness.js';
import { RejectionsStore } from './reads/rejections.store.js';
import { UsageController } from './reads/usage.controller.js';
import { OperatorRequestsController } from './reads/operator-requests.controller.js';
import { ShadowsController } from './reads/shadows.controller.js';
import { ShadowsStore } from './reads/shadows.store.js';
import { BooksController } from './reconcile/books.controller.js';
import { Reconciler } from './reconcile/reconciler.js';
import { UsageConfig } from './usage.config.js';
import { UsageMetrics } from './usage-metrics.js';

/** Usage events, ledger, balance and their reads. Needs the global PlatformModule; provides Funds to everybody. */
@Module({})
export class UsageModule {
  static with(config: Readonly<UsageConfig>): DynamicModule {
    const isOff = config.BILLING === 'off';
    return {
      module: UsageModule,
      global: true,
      controllers: [
        UsageController,
        SeriesController,
        ExportsController,
        AccountController,
        LedgerController,
        ErasuresController,
        StripeWebhookController,
        BooksController,
        OperatorRequestsController,
        ShadowsController,
        ContentsController,
        InternalContentsController,
        UsageConsumer,
        ...(isOff ? [] : WALLET),
      ],
      providers: [
        { provide: UsageConfig, useValue: config },
        databaseProvider(
          UsageDatabase,
          { schemaDir: SCHEMA_DIR, schema: SCHEMA, migrates: config.USAGE_MIGRATE_AT_START },
          {
            url: config.USAGE_DATABASE_URL,
            maxConnections: config.USAGE_DATABASE_CONNECTIONS,
            // Helpers make one account's sums hardly faster, and take processors from everybody else's reads.
            isParallel: false,
          },
        ),
        UsageMetrics,
        ReplicaMetrics,
        readReplica(config),
        {
          provide: IdempotencyTable,
          inject: [UsageDatabase],
          useFactory: ({ prisma }: UsageDatabase) => new IdempotencyTable(prisma),
        },
        ...reads,
        ...ledger,
        ...postings,
        outboxRelay(UsageDatabase, 'usage'),
        {
          provide: CONTENT_KEKS,
          inject: [UsageDatabase, RANDOM, LOGGER],
          useFactory: (database: UsageDatabase, random: Random, logger: Logger) =>
            openContentKeks(config, database, random, logger),
        },
        ContentsStore,
        { provide: RequestContents, useExisting: ContentsStore },
        Erasures,
        {
          provide: StripeClient,
          inject: [RANDOM],
          // A report of what was paid before is still booked, but nothing is charged.
          useFactory: (random: Random) => (isOff ? null : stripeClient(config, random)),
        },
        ...payments,
        ...jobs,
      ],
      exports: [Funds, RequestContents],
    };
  }
}

/** Routes of balances that are filled by hand, card or coupon: none where billing is off. */
const WALLET = [BillingController, StatementController, CouponsController, CreditsController];

/** Null where none is configured. It has as many connections as the database, whose reads it takes over. */
function readReplica({ USAGE_READS_DATABASE_URL: url, ...config }: Readonly<UsageConfig>): Provider {
  return {
    provide: ReadReplica,
    inject: [UsageDatabase, ReplicaMetrics, CLOCK, LOGGER],
    useFactory: (primary: UsageDatabase, metrics: ReplicaMetrics, clock: Clock, logger: Logger) => {
      if (url === undefined) return null;
      const onIdleError = (error: Error): void =>
        logger.warn({ err: error }, 'an idle connection to the read replica was lost');
      const maxConnections = config.USAGE_DATABASE_CONNECTIONS;
      const copy = new UsageDatabase({ url, maxConnections, isParallel: false, onIdleError });
      return new ReadReplica(copy, primary, metrics, clock, logger);
    },
  };
}

const reads: Provider[] = [
  History,
  EventsStore,
  SeriesStore,
  TrendStore,
  RejectionsStore,
  ShadowsStore,
  ExportsStore,
  FairScheduler,
  SessionCache,
  Names,
  Freshness,
];

const ledger: Provider[] = [
  CarriedScopes,
  LedgerStore,
  LivingProducers,
  LedgerFunds,
  { provide: Funds, useExisting: LedgerFunds },
  AccountDirectory,
  ActiveAccounts,
  ProjectionStore,
  Projections,
  Reconciler,
];

const payments: Provider[] = [
  BillingStore,
  StatementStore,
  CouponsStore,
  PaymentsStore,
  MovedBalances,
  Payments,
  RechargesStore,
  Recharges,
];

const postings: Provider[] = [
  PostingStore,
  Reprice,
  Ingestion,
  WindowRollup,
  DayRollup,
  TagRollup,
  TagSumsRollup,
  ProviderRollup,
];

const jobs: Provider[] = [
  MonthPartitions,
  RetirementsStore,
  Retirements,
  ProjectionJobs,
  RollupJobs,
  RetentionJobs,
  ScheduledJobs,
];

import {
  Inject,
  Injectable,
  Module,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type Provider,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import {
  CatalogueReader,
  Directory,
  ResponseStore,
  ErasedEndUsers,
  Funds,
  LimitStore,
  PrincipalReader,
  RequestContents,
  type Clock,
  type Random,
} from '@gateway/contracts';
import { IdempotencyTable, openSchema } from '@gateway/database';
import { OutboxRelay, outboxRelay } from '@gateway/event-log';
import { CLOCK, LOGGER, Metrics, RANDOM } from '@gateway/platform';
import type { Logger } from 'pino';
import { Rounds } from './background/rounds.js';
import { contentProviders } from './contents/content-providers.js';
import { ContentsController, InternalContentsController } from './contents/contents.controller.js';
import { ContentsStore } from './contents/contents.store.js';
import { BillingController } from './payments/billing.controller.js';
import { CouponsController } from './payments/coupons.controller.js';
import { paymentProviders } from './payments/payment-providers.js';
import { Payments } from './payments/payments.js';
import { StripeWebhookController } from './payments/stripe-webhook.controller.js';
import { DayRoller } from './posting/day-roller.js';
import { TagRoller } from './posting/tag-roller.js';
import { TagSumsRoller } from './posting/tag-sums-roller.js';
import { PostingStore } from './posting/posting.store.js';
import { Reprice } from './posting/reprice.js';
import { Erasures } from './erasures/erasures.js';
import { DatabaseErasedEndUsers } from './erasures/erased-end-users.js';
import { ErasedEndUsersController } from './erasures/erased-end-users.controller.js';
import { ErasuresController } from './erasures/erasures.controller.js';
import { Ingestion } from './ingest/ingestion.js';
import { UsageConsumer } from './ingest/usage.consumer.js';
import { AccountDirectory } from './ledger/account-directory.js';
import { CreditsController } from './ledger/credits.controller.js';
import { LedgerController } from './ledger/ledger.controller.js';
import { LedgerFunds } from './ledger/ledger-funds.js';
import { LedgerStore } from './ledger/ledger.store.js';
import { ActiveAccounts } from './mirror/active-accounts.js';
import { MirrorStore } from './mirror/mirror.store.js';
import { Mirrors } from './mirror/mirrors.js';
import { WindowRoller } from './mirror/window-roller.js';
import { SCHEMA, SCHEMA_DIR, UsageDatabase } from './postgres/usage-database.js';
import { AccountController } from './reads/account.controller.js';
import { EventsStore } from './reads/events.store.js';
import { ExportsController } from './reads/exports.controller.js';
import { ExportsStore } from './reads/exports.store.js';
import { Names } from './reads/names.js';
import { ReadTurns } from './reads/read-turns.js';
import { SeriesController } from './reads/series.controller.js';
import { SeriesStore } from './reads/series.store.js';
import { SessionCache } from './reads/session-cache.js';
import { TrendStore } from './reads/trend.store.js';
import { PRINCIPALS } from './reads/principals-token.js';
import { Freshness } from './reads/freshness.js';
import { RejectionsStore } from './reads/rejections.store.js';
import { UsageController } from './reads/usage.controller.js';
import { BooksController } from './reconcile/books.controller.js';
import { Reconciler } from './reconcile/reconciler.js';
import { UsageConfig } from './usage.config.js';
import { UsageMetrics } from './usage-metrics.js';

/** Starts what runs by itself once the process is up, and ends it before the drivers close. */
@Injectable()
class UsageLife implements OnApplicationBootstrap, OnModuleDestroy {
  constructor(@Inject(Rounds) private readonly rounds: Rounds) {}

  onApplicationBootstrap(): void {
    this.rounds.start();
  }

  async onModuleDestroy(): Promise<void> {
    await this.rounds.stop();
  }
}

/** Usage events, ledger, balance and their reads. Needs the global PlatformModule; provides Funds to everybody. */
@Module({})
export class UsageModule {
  static with(config: Readonly<UsageConfig>): DynamicModule {
    return {
      module: UsageModule,
      global: true,
      controllers: [
        UsageController,
        SeriesController,
        ExportsController,
        AccountController,
        LedgerController,
        CreditsController,
        BillingController,
        ErasuresController,
        ErasedEndUsersController,
        CouponsController,
        StripeWebhookController,
        BooksController,
        ContentsController,
        InternalContentsController,
        UsageConsumer,
      ],
      providers: [
        { provide: UsageConfig, useValue: config },
        {
          provide: UsageDatabase,
          inject: [LOGGER],
          useFactory: (logger: Logger) => openDatabase(config, logger),
        },
        ...stores,
        ...mirrors,
        ...ingest,
        ...paymentProviders(config),
        ...contentProviders(config),
        UsageLife,
      ],
      exports: [Funds, ErasedEndUsers, RequestContents],
    };
  }
}

const stores: Provider[] = [
  { provide: UsageMetrics, inject: [Metrics], useFactory: (metrics: Metrics) => new UsageMetrics(metrics) },
  ...[RejectionsStore, SeriesStore, TrendStore, MirrorStore].map((type) => ({
    provide: type,
    inject: [UsageDatabase],
    useFactory: (database: UsageDatabase) => new type(database),
  })),
  {
    provide: IdempotencyTable,
    inject: [UsageDatabase],
    useFactory: ({ prisma }: UsageDatabase) => new IdempotencyTable(prisma),
  },
  {
    provide: EventsStore,
    inject: [UsageDatabase, Reprice],
    useFactory: (database: UsageDatabase, reprice: Reprice) =>
      new EventsStore(database, (unit) => reprice.lines(unit)),
  },
  {
    provide: ExportsStore,
    inject: [UsageDatabase, CLOCK, RANDOM],
    useFactory: (database: UsageDatabase, clock: Clock, random: Random) =>
      new ExportsStore({ database, clock, random }),
  },
  {
    provide: ReadTurns,
    inject: [UsageConfig, CLOCK, RANDOM],
    useFactory: ({ USAGE_DATABASE_CONNECTIONS: connections }: UsageConfig, clock: Clock, random: Random) =>
      new ReadTurns({ connections, clock, random }),
  },
  { provide: SessionCache, inject: [CLOCK], useFactory: (clock: Clock) => new SessionCache(clock) },
  {
    provide: Names,
    inject: [ModuleRef, CLOCK, LOGGER],
    useFactory: (modules: ModuleRef, clock: Clock, logger: Logger) =>
      new Names({ directory: () => modules.get<Directory>(Directory, { strict: false }), clock, logger }),
  },
];

const mirrors: Provider[] = [
  { provide: ActiveAccounts, inject: [CLOCK], useFactory: (clock: Clock) => new ActiveAccounts(clock) },
  {
    provide: Mirrors,
    inject: [UsageDatabase, MirrorStore, LimitStore, ActiveAccounts, UsageMetrics, CLOCK, LOGGER],
    useFactory: (
      database: UsageDatabase,
      store: MirrorStore,
      limits: LimitStore,
      accounts: ActiveAccounts,
      metrics: UsageMetrics,
      clock: Clock,
      logger: Logger,
    ) => new Mirrors({ database, store, limits, accounts, metrics, clock, logger }),
  },
  {
    provide: WindowRoller,
    inject: [UsageDatabase, CLOCK],
    useFactory: (database: UsageDatabase, clock: Clock) => new WindowRoller({ database, clock }),
  },
  {
    provide: Freshness,
    inject: [LimitStore, Mirrors, CLOCK, LOGGER],
    useFactory: (limits: LimitStore, mirrors: Mirrors, clock: Clock, logger: Logger) =>
      new Freshness({ limits, clock, logger, reportDue: (accountId) => mirrors.reportDueOf(accountId) }),
  },
  {
    provide: PRINCIPALS,
    inject: [ModuleRef],
    useFactory: (modules: ModuleRef) => () =>
      modules.get<PrincipalReader>(PrincipalReader, { strict: false }),
  },
  {
    provide: LedgerStore,
    inject: [UsageDatabase, CLOCK, RANDOM],
    useFactory: (database: UsageDatabase, clock: Clock, random: Random) =>
      new LedgerStore({ database, clock, random }),
  },
  {
    provide: AccountDirectory,
    inject: [ModuleRef],
    useFactory: (modules: ModuleRef) =>
      new AccountDirectory(() => modules.get<Directory>(Directory, { strict: false })),
  },
  {
    provide: LedgerFunds,
    inject: [LedgerStore, Mirrors, UsageMetrics, RANDOM, OutboxRelay],
    useFactory: (
      store: LedgerStore,
      mirrors: Mirrors,
      metrics: UsageMetrics,
      random: Random,
      relay: OutboxRelay,
    ) => new LedgerFunds({ store, mirrors, metrics, random, nudge: () => relay.nudge() }),
  },
  { provide: Funds, useExisting: LedgerFunds },
];

const ingest: Provider[] = [
  ...[DayRoller, TagRoller, TagSumsRoller].map((type) => ({
    provide: type,
    inject: [UsageDatabase, CLOCK],
    useFactory: (database: UsageDatabase, clock: Clock) => new type({ database, clock }),
  })),
  {
    provide: ErasedEndUsers,
    inject: [UsageDatabase],
    useFactory: (database: UsageDatabase) => new DatabaseErasedEndUsers(database),
  },
  {
    provide: Erasures,
    inject: [UsageDatabase, ModuleRef, OutboxRelay, CLOCK, RANDOM, LOGGER],
    useFactory: (
      database: UsageDatabase,
      modules: ModuleRef,
      relay: OutboxRelay,
      clock: Clock,
      random: Random,
      logger: Logger,
    ) => {
      const directory = (): Directory => modules.get<Directory>(Directory, { strict: false });
      const responses = (): ResponseStore => modules.get<ResponseStore>(ResponseStore, { strict: false });
      const nudge = (): void => relay.nudge();
      return new Erasures({ database, directory, responses, nudge, clock, random, logger });
    },
  },
  {
    provide: Reconciler,
    inject: [UsageDatabase, MirrorStore, Mirrors, LimitStore, Reprice, UsageMetrics, CLOCK, RANDOM, LOGGER],
    useFactory: (
      database: UsageDatabase,
      mirrorStore: MirrorStore,
      mirrors: Mirrors,
      limits: LimitStore,
      reprice: Reprice,
      metrics: UsageMetrics,
      clock: Clock,
      random: Random,
      logger: Logger,
    ) =>
      new Reconciler({
        database,
        mirrorStore,
        mirrors,
        limits,
        reprice,
        metrics,
        clock,
        random,
        logger,
      }),
  },
  outboxRelay(UsageDatabase, 'usage'),
  {
    provide: PostingStore,
    inject: [UsageDatabase, CLOCK, RANDOM],
    useFactory: (database: UsageDatabase, clock: Clock, random: Random) =>
      new PostingStore({ database, clock, random }),
  },
  {
    provide: Reprice,
    inject: [ModuleRef, UsageMetrics, LOGGER],
    useFactory: (modules: ModuleRef, metrics: UsageMetrics, logger: Logger) =>
      new Reprice({ catalogue: () => catalogueOf(modules), metrics, logger }),
  },
  {
    provide: Ingestion,
    inject: [PostingStore, Mirrors, Reprice, UsageMetrics, CLOCK, LOGGER, OutboxRelay],
    useFactory: (
      store: PostingStore,
      mirrors: Mirrors,
      reprice: Reprice,
      metrics: UsageMetrics,
      clock: Clock,
      logger: Logger,
      relay: OutboxRelay,
    ) =>
      new Ingestion({
        store,
        mirrors,
        reprice,
        metrics,
        clock,
        logger,
        nudge: () => relay.nudge(),
      }),
  },
  {
    provide: Rounds,
    inject: [
      Mirrors,
      WindowRoller,
      DayRoller,
      TagRoller,
      TagSumsRoller,
      ActiveAccounts,
      LedgerStore,
      Reconciler,
      Payments,
      Erasures,
      ContentsStore,
      IdempotencyTable,
      UsageMetrics,
      CLOCK,
      LOGGER,
    ],
    useFactory: (
      mirrors: Mirrors,
      roller: WindowRoller,
      days: DayRoller,
      tags: TagRoller,
      tagSums: TagSumsRoller,
      accounts: ActiveAccounts,
      ledger: LedgerStore,
      reconciler: Reconciler,
      payments: Payments,
      erasures: Erasures,
      contents: ContentsStore,
      creates: IdempotencyTable,
      metrics: UsageMetrics,
      clock: Clock,
      logger: Logger,
    ) =>
      new Rounds({
        mirrors,
        roller,
        days,
        tags,
        tagSums,
        accounts,
        ledger,
        reconciler,
        payments,
        erasures,
        contents,
        creates,
        metrics,
        clock,
        logger,
      }),
  },
];

/** Prices are checked where a catalogue is at hand; posting needs none. */
function catalogueOf(modules: ModuleRef): CatalogueReader | null {
  try {
    return modules.get<CatalogueReader>(CatalogueReader, { strict: false });
  } catch {
    return null; // Nest throws for a token that nobody provides.
  }
}

async function openDatabase(config: Readonly<UsageConfig>, logger: Logger): Promise<UsageDatabase> {
  await openSchema({
    url: config.USAGE_DATABASE_URL,
    schemaDir: SCHEMA_DIR,
    schema: SCHEMA,
    migrates: config.USAGE_MIGRATE_AT_START,
    report: (line) => logger.info(line),
  });
  return new UsageDatabase({
    url: config.USAGE_DATABASE_URL,
    maxConnections: config.USAGE_DATABASE_CONNECTIONS,
    // Helpers make one account's sums hardly faster, and take processors from everybody else's reads.
    isParallel: false,
    onIdleError: (error) => logger.warn({ err: error }, 'an idle connection to PostgreSQL was lost'),
  });
}

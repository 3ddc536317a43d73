import {
  Inject,
  Injectable,
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import {
  CatalogueNames,
  CatalogueReader,
  RouteHealth,
  type Clock,
  type Random,
  type Timer,
} from '@gateway/contracts';
import { databaseProvider } from '@gateway/database';
import { outboxRelay } from '@gateway/event-log';
import { CLOCK, LOGGER, RANDOM } from '@gateway/platform';
import type { Logger } from 'pino';
import { AdminController } from './admin/admin.controller.js';
import { CatalogueWrites } from './admin/catalogue-writes.js';
import { AliasChanges } from './aliases/alias-changes.js';
import { AliasesController } from './aliases/aliases.controller.js';
import { Aliases } from './aliases/aliases.service.js';
import { PlatformAliasesController } from './aliases/platform-aliases.controller.js';
import { StoredAliases } from './aliases/stored-aliases.js';
import { Availability } from './availability/availability.js';
import { StoredCredentials } from './availability/stored-credentials.js';
import { CatalogueConfig } from './catalogue.config.js';
import { ErrorsController } from './errors/errors.controller.js';
import { RouteHealthController } from './health/route-health.controller.js';
import { StoredRouteHealth } from './health/stored-route-health.js';
import { ModelReads } from './models/model-reads.js';
import { PriceHistory } from './models/price-history.js';
import { ModelsController, OpenAiModelsController } from './models/models.controller.js';
import { CatalogueDatabase, SCHEMA, SCHEMA_DIR, type Tx } from './postgres/catalogue-database.js';
import { PublicController } from './public/public.controller.js';
import { NamesController } from './names/names.controller.js';
import { SnapshotNames } from './names/snapshot-names.js';
import { FileAliases } from './own/file-aliases.js';
import { OwnEntries } from './own/own-entries.js';
import { noteFileEdits } from './own/file-edits.js';
import { feedLayer } from './seed/feed-layer.js';
import type { Seed } from './seed/seed-record.js';
import { publish } from './snapshots/publish.js';
import { CatalogueFeed } from './feed/catalogue-feed.js';
import { FeedController } from './feed/feed.controller.js';
import { FeedStore } from './feed/feed-store.js';
import { SnapshotsController } from './snapshots/snapshots.controller.js';
import { StoredCatalogueReader } from './snapshots/stored-catalogue-reader.js';
import { VersionsController } from './versions/versions.controller.js';

const STATEMENT_TIMEOUT_MS = 20_000;

/** Loads seed, snapshot and memory at start. Nothing listens before a snapshot is in memory. */
@Injectable()
class CatalogueLife implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private timer: Timer | null = null;
  private asking: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    private readonly own: OwnEntries,
    private readonly config: CatalogueConfig,
    private readonly database: CatalogueDatabase,
    private readonly reader: StoredCatalogueReader,
    private readonly health: StoredRouteHealth,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    if (this.own.asksServers) await this.own.discover();
    await this.publish();
    await this.reader.start();
  }

  private async publish(): Promise<void> {
    const { clock, random, logger, own } = this;
    const seedOf = async (tx: Tx): Promise<Seed> => {
      const layers = own.layers(await feedLayer(tx));
      await noteFileEdits(tx, layers);
      return layers.seed;
    };
    const published = await publish(this.database, { seedOf, ...own.release(), clock, random });
    if (published !== null) logger.info({ snapshot_id: published }, 'a new catalogue snapshot was published');
  }

  /** Models come and go on a server of one's own: it is asked again and again. */
  private askLater(): void {
    if (this.isStopped || !this.own.asksServers) return;
    this.timer = this.clock.setTimer(this.config.DISCOVERY_MS, () => {
      this.asking = this.own
        .discover()
        .then((isChanged) => (isChanged ? this.publish() : undefined))
        .catch((failure: unknown) =>
          this.logger.warn({ err: failure }, 'discovered models were not published'),
        )
        .finally(() => this.askLater());
    });
  }

  onApplicationBootstrap(): void {
    this.askLater();
    this.health.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    this.timer?.cancel();
    await this.asking;
    await this.health.stop();
    await this.reader.stop();
  }
}

/**
 * Models, prices, errors and versions. Needs the global PlatformModule; gives everybody CatalogueReader,
 * CatalogueNames and RouteHealth.
 */
@Module({})
export class CatalogueModule {
  static with(config: Readonly<CatalogueConfig>): DynamicModule {
    return {
      module: CatalogueModule,
      global: true,
      controllers: [
        ModelsController,
        OpenAiModelsController,
        PublicController,
        AdminController,
        AliasesController,
        PlatformAliasesController,
        FeedController,
        ErrorsController,
        VersionsController,
        SnapshotsController,
        NamesController,
        RouteHealthController,
      ],
      providers: [
        { provide: CatalogueConfig, useValue: config },
        databaseProvider(
          CatalogueDatabase,
          { schemaDir: SCHEMA_DIR, schema: SCHEMA, migrates: config.CATALOGUE_MIGRATE_AT_START },
          {
            url: config.CATALOGUE_DATABASE_URL,
            maxConnections: config.CATALOGUE_DATABASE_CONNECTIONS,
            statementTimeoutMs: STATEMENT_TIMEOUT_MS,
          },
        ),
        { provide: CatalogueReader, useExisting: StoredCatalogueReader },
        StoredCatalogueReader,
        { provide: CatalogueNames, useClass: SnapshotNames },
        StoredAliases,
        AliasChanges,
        Aliases,
        StoredCredentials,
        Availability,
        StoredRouteHealth,
        { provide: RouteHealth, useExisting: StoredRouteHealth },
        ModelReads,
        PriceHistory,
        OwnEntries,
        FileAliases,
        CatalogueWrites,
        FeedStore,
        CatalogueFeed,
        CatalogueLife,
        outboxRelay(CatalogueDatabase, 'catalogue'),
      ],
      exports: [CatalogueReader, CatalogueNames, RouteHealth],
    };
  }
}

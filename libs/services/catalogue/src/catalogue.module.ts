import {
  Inject,
  Injectable,
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { CatalogueReader, EventLog, type Clock, type Random } from '@gateway/contracts';
import { outboxBacklog, OutboxRelay } from '@gateway/event-log';
import { CLOCK, LOGGER, Metrics, RANDOM } from '@gateway/platform';
import { PROVIDERS } from '@gateway/providers';
import type { Logger } from 'pino';
import { CatalogueConfig } from './catalogue.config.js';
import { ErrorsController } from './errors/errors.controller.js';
import { ModelReads } from './models/model-reads.js';
import { ModelsController, OpenAiModelsController } from './models/models.controller.js';
import { CatalogueDatabase, openDatabase } from './postgres/catalogue-database.js';
import { readSeed } from './seed/read-seed.js';
import { publish } from './snapshots/publish.js';
import { SnapshotsController } from './snapshots/snapshots.controller.js';
import { StoredCatalogueReader } from './snapshots/stored-catalogue-reader.js';
import { VersionsController } from './versions/versions.controller.js';

/** At start: seed, snapshot, memory; then the relay of its event. Nothing listens before a snapshot is in memory. */
@Injectable()
class CatalogueLife implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private relay: OutboxRelay | null = null;

  constructor(
    private readonly config: CatalogueConfig,
    private readonly database: CatalogueDatabase,
    private readonly reader: StoredCatalogueReader,
    private readonly eventLog: EventLog,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly metrics: Metrics,
  ) {}

  async onModuleInit(): Promise<void> {
    const { clock, random, logger } = this;
    const seed = readSeed({ simulated: this.config.SIMULATED_PROVIDER });
    const adapters = new Map(PROVIDERS.map(({ slug, dialects }) => [slug, dialects]));
    const published = await publish(this.database, { seed, adapters, clock, random });
    if (published !== null) logger.info({ snapshot: published }, 'a new catalogue snapshot was published');
    await this.reader.start();
  }

  onApplicationBootstrap(): void {
    this.relay = new OutboxRelay({
      pool: this.database.pool,
      eventLog: this.eventLog,
      clock: this.clock,
      onFault: (failure) => this.logger.warn({ err: failure }, 'catalogue events could not be relayed'),
      onBacklog: outboxBacklog(this.metrics, 'catalogue'),
    });
    this.relay.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.relay?.stop();
    await this.reader.stop();
  }
}

/** Models, prices, errors and versions. Needs the global PlatformModule; gives everybody the CatalogueReader. */
@Module({})
export class CatalogueModule {
  static with(config: Readonly<CatalogueConfig>): DynamicModule {
    return {
      module: CatalogueModule,
      global: true,
      controllers: [
        ModelsController,
        OpenAiModelsController,
        ErrorsController,
        VersionsController,
        SnapshotsController,
      ],
      providers: [
        { provide: CatalogueConfig, useValue: config },
        {
          provide: CatalogueDatabase,
          inject: [LOGGER],
          useFactory: (logger: Logger) => openDatabase(config, logger),
        },
        { provide: CatalogueReader, useExisting: StoredCatalogueReader },
        StoredCatalogueReader,
        ModelReads,
        CatalogueLife,
      ],
      exports: [CatalogueReader],
    };
  }
}

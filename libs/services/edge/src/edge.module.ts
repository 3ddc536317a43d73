import {
  Inject,
  Injectable,
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { CatalogueReader, Inference as InferencePort, type Random } from '@gateway/contracts';
import { LOGGER, RANDOM, ReadinessChecks } from '@gateway/platform';
import { UndiciTransport, type KeyedProvider } from '@gateway/upstream';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { ForgetErased } from './cache/forget-erased.js';
import { COLLABORATORS } from './collaborators.js';
import { COMPOSED_ENDPOINTS } from './composed/composed-endpoints.js';
import { EdgeInference } from './composed/edge-inference.js';
import { InferenceController } from './composed/inference.controller.js';
import { EdgeConfig, type EnabledProvider } from './config/edge.config.js';
import { ProviderDirectory } from './config/provider-directory.js';
import { ContentLog } from './contents/content-log.js';
import { readDashboard } from './dashboard/dashboard-files.js';
import { registerDashboard } from './dashboard/register-dashboard.js';
import { EDGE_DRIVERS } from './edge-drivers.js';
import { registerFrontDoor, type FrontDoorServices } from './front-door/front-door.js';
import { Endpoints } from './inference/endpoint.js';
import { Shadows } from './inference/shadows.js';
import { referenceFiles } from './reference/reference-files.js';
import { registerReference } from './reference/register-reference.js';
import { LimitSimulations } from './simulation/limit-simulations.js';
import { LimitsController } from './simulation/limits.controller.js';
import { Sockets } from './sockets/register-sockets.js';
import { ResponseWriter } from './state/response-writer.js';
import { JournalRuntime } from './units/journal-runtime.js';
import { CredentialReports } from './upstream/credential-reports.js';
import { RouteReports } from './upstream/route-reports.js';

export interface EdgeOptions {
  config: EdgeConfig;
  /** Providers with a credential, by slug. */
  providers: ReadonlyMap<string, EnabledProvider>;
  /** Providers that customers' own keys are used at. */
  keyed: ReadonlyMap<string, KeyedProvider>;
  /** Addresses for paths of other services; empty where they are mounted in this process. */
  frontDoor: FrontDoorServices;
}

const OPTIONS = Symbol('EdgeOptions');

/** Registers inference and the front door on the application's Fastify instance. */
@Injectable()
class EdgeRoutes implements OnModuleInit {
  constructor(
    @Inject(OPTIONS) private readonly options: EdgeOptions,
    private readonly endpoints: Endpoints,
    private readonly sockets: Sockets,
    private readonly host: HttpAdapterHost,
    private readonly catalogue: CatalogueReader,
    private readonly readiness: ReadinessChecks,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    const instance = this.host.httpAdapter.getInstance<FastifyInstance>();
    const { random } = this;
    const { config, providers, frontDoor } = this.options;
    await this.endpoints.register(instance, COMPOSED_ENDPOINTS);
    this.sockets.register(instance);
    this.readiness.add('catalogue', () => hasSnapshot(this.catalogue) || 'no catalogue was loaded yet');
    registerDashboard(instance, readDashboard(config.DASHBOARD_DIR), random);
    registerReference(instance, referenceFiles('docs/openapi.json', config.BILLING));
    await registerFrontDoor(instance, frontDoor, random);
    this.logger.info({ providers: [...providers.keys()].join(', ') }, 'providers enabled');
  }
}

/**
 * Starts and stops the journal, and what reports and stores beside the answers. Calls of providers end before the journal
 * closes, so that the units of all of them are written.
 */
@Injectable()
class EdgeLifecycle implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown {
  constructor(
    private readonly responses: ResponseWriter,
    private readonly contents: ContentLog,
    private readonly reports: RouteReports,
    private readonly credentials: CredentialReports,
    private readonly shadows: Shadows,
    private readonly forgetting: ForgetErased,
    private readonly transport: UndiciTransport,
    private readonly journal: JournalRuntime,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.journal.start();
    this.reports.start();
    await this.credentials.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.shadows.stop();
    await this.forgetting.stop();
    await this.responses.flush();
    await this.contents.flush();
    await this.credentials.stop();
    await this.reports.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    try {
      await this.transport.close();
    } finally {
      await this.journal.stop();
    }
  }
}

/** Returns false before the first snapshot, when every inference is 503: traffic belongs to other edges. */
function hasSnapshot(catalogue: CatalogueReader): boolean {
  try {
    return catalogue.snapshot().id !== '';
  } catch {
    return false;
  }
}

/** Inference and the front door. Needs the platform and the ports: those of other services from `edge-drivers.ts`, the stores from the app. */
@Module({})
export class EdgeModule {
  static with(options: EdgeOptions): DynamicModule {
    const { config, providers, keyed } = options;
    return {
      module: EdgeModule,
      global: true,
      controllers: [LimitsController, InferenceController],
      providers: [
        { provide: OPTIONS, useValue: options },
        { provide: EdgeConfig, useValue: config },
        {
          provide: ProviderDirectory,
          useValue: new ProviderDirectory(providers, keyed, config.BYOK_FEE_PCT),
        },
        ...EDGE_DRIVERS,
        JournalRuntime,
        ...COLLABORATORS,
        LimitSimulations,
        { provide: InferencePort, useExisting: EdgeInference },
        EdgeLifecycle,
        EdgeRoutes,
      ],
      exports: [InferencePort],
    };
  }
}

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
import {
  BackgroundResponses,
  CatalogueReader,
  ErasedEndUsers,
  Funds,
  IdempotencyStore,
  Inference,
  LimitStore,
  ObjectStore,
  PrincipalReader,
  ProviderKeyVault,
  RequestContents,
  ResponseStore,
  RouteHealth,
  StoredContent,
  type Clock,
  type Random,
} from '@gateway/contracts';
import {
  CLOCK,
  Deadlines,
  Drain,
  FleetSecret,
  LOGGER,
  Metrics,
  Pressure,
  RANDOM,
  ReadinessChecks,
  TRACER,
} from '@gateway/platform';
import type { Tracer } from '@opentelemetry/api';
import { CircuitBreakers, UndiciTransport, type KeyedProvider } from '@gateway/upstream';
import { newestIndex, RetryBudget, RouteStats } from '@gateway/routing';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { BatchPace } from './admission/batch-pace.js';
import { OutputSizes } from './admission/output-sizes.js';
import { EdgeConfig, type EnabledProvider } from './config/edge.config.js';
import { readDashboard } from './dashboard/dashboard-files.js';
import { registerDashboard } from './dashboard/register-dashboard.js';
import { referenceFiles } from './reference/reference-files.js';
import { registerReference } from './reference/register-reference.js';
import { registerFrontDoor, type FrontDoorServices } from './front-door/front-door.js';
import { OpenedKeys } from './upstream/opened-keys.js';
import { registerEndpoints, type EndpointDeps } from './inference/endpoint.js';
import { StoredBodies } from './inference/stored-bodies.js';
import { LimitSimulations } from './simulation/limit-simulations.js';
import { LimitsController } from './simulation/limits.controller.js';
import { ClientSecrets } from './inference/client-secrets.js';
import { registerSockets } from './sockets/register-sockets.js';
import { ResponseWriter } from './state/response-writer.js';
import { Turns } from './state/turns.js';
import { OutputSpeeds } from './units/output-speeds.js';
import { ProviderAlarms } from './upstream/provider-alarms.js';
import { CredentialReports } from './upstream/credential-reports.js';
import { RouteReports } from './upstream/route-reports.js';
import { EdgeInference } from './composed/edge-inference.js';
import { InferenceController } from './composed/inference.controller.js';
import { COMPOSED_ENDPOINTS } from './composed/composed-endpoints.js';
import { ContentLog } from './contents/content-log.js';
import { ForgetErased } from './cache/forget-erased.js';
import { ResponseCache } from './cache/response-cache.js';
import { EdgeMetrics } from './units/edge-metrics.js';
import { TracedEdgeMetrics } from './units/traced-edge-metrics.js';
import { JournalRuntime } from './units/journal-runtime.js';
import { KeyUses } from './units/key-uses.js';
import { Rejections } from './units/rejections.js';
import { Revocations } from './units/revocations.js';

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

/** Registers inference and the front door on the application's Fastify instance, and closes what they opened. */
@Injectable()
class EdgeRoutes implements OnModuleInit, BeforeApplicationShutdown, OnApplicationShutdown {
  private readonly transport: UndiciTransport;
  private readonly breakers: CircuitBreakers;
  private readonly keyUses: KeyUses;
  private readonly stats = new RouteStats();
  private readonly routeReports: RouteReports;
  private readonly credentialReports: CredentialReports;
  private readonly forgetting: ForgetErased;
  private rejections: Rejections | null = null;
  private responseWriter: ResponseWriter | null = null;
  private contentLog: ContentLog | null = null;

  constructor(
    @Inject(OPTIONS) private readonly options: EdgeOptions,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly host: HttpAdapterHost,
    private readonly runtime: JournalRuntime,
    private readonly catalogue: CatalogueReader,
    private readonly principals: PrincipalReader,
    private readonly limits: LimitStore,
    private readonly funds: Funds,
    private readonly drain: Drain,
    private readonly metrics: EdgeMetrics,
    private readonly readiness: ReadinessChecks,
    private readonly vault: ProviderKeyVault,
    private readonly stored: StoredContent,
    private readonly simulations: LimitSimulations,
    private readonly responses: ResponseStore,
    private readonly contents: RequestContents,
    private readonly background: BackgroundResponses,
    private readonly idempotency: IdempotencyStore,
    private readonly objects: ObjectStore,
    private readonly inference: EdgeInference,
    private readonly fleet: FleetSecret,
    private readonly cache: ResponseCache,
    private readonly pressure: Pressure,
    erased: ErasedEndUsers,
    health: RouteHealth,
  ) {
    const { config } = options;
    this.transport = new UndiciTransport({
      clock,
      connections: config.UPSTREAM_CONNECTIONS,
      connectTimeoutMs: config.UPSTREAM_CONNECT_TIMEOUT_MS,
      proxy:
        config.HTTPS_PROXY === undefined ? undefined : { url: config.HTTPS_PROXY, except: config.NO_PROXY },
    });
    this.breakers = new CircuitBreakers(clock, random, {
      onState: (route, state) => {
        metrics.breakerChanged(route.provider, state);
        logger.warn({ provider: route.provider, model: route.model, state }, 'circuit breaker');
      },
      onFailure: ({ provider }, error) => this.routeReports.failed(provider, error),
    });
    metrics.watch(this.breakers, this.transport);
    this.forgetting = new ForgetErased({
      cache,
      erased,
      clock,
      onFailure: (failure) =>
        logger.warn({ err: failure }, 'erasures could not be looked at, kept answers stay'),
    });
    const edge = Buffer.from(random.bytes(12)).toString('base64url');
    const held = [...options.providers.keys()];
    this.credentialReports = new CredentialReports(health, edge, held, clock, (failure) =>
      logger.warn({ err: failure }, 'the providers with a credential were not reported'),
    );
    this.routeReports = new RouteReports({
      figures: this.stats.figures,
      breakers: this.breakers,
      health,
      clock,
      edge,
      onFault: (failure) => logger.warn({ err: failure }, 'how providers fare was not reported'),
    });
    this.keyUses = new KeyUses(vault, clock, (failure) =>
      logger.warn({ err: failure }, 'uses of provider keys will be reported later'),
    );
  }

  async onModuleInit(): Promise<void> {
    const instance = this.host.httpAdapter.getInstance<FastifyInstance>();
    const { clock, random, funds, principals, drain, breakers, transport, metrics } = this;
    const { config, providers, keyed, frontDoor } = this.options;
    const { puts, journal, inFlight, watch, settling } = this.runtime;
    const outputs = new OutputSizes(clock);
    const speeds = new OutputSpeeds();
    const deadlines = new Deadlines(clock);
    this.keyUses.start();
    this.routeReports.start();
    await this.credentialReports.start();
    this.rejections = new Rejections(journal, clock, metrics);
    const deps: EndpointDeps = {
      clock,
      random,
      limits: this.limits,
      funds,
      principals,
      puts,
      journal,
      outputs,
      stats: this.stats,
      speeds,
      cache: this.cache,
      composed: COMPOSED_ENDPOINTS,
      breakers,
      transport,
      config,
      rejections: this.rejections,
      clientSecrets: new ClientSecrets(this.fleet, clock, random),
      metrics,
      index: newestIndex(this.catalogue),
      providers: new Map([...providers].map(([slug, { provider }]) => [slug, provider])),
      access: new Map([...providers].map(([slug, { access }]) => [slug, access])),
      byok: {
        providers: new Map([...keyed].map(([slug, { provider }]) => [slug, provider])),
        feePct: config.BYOK_FEE_PCT,
      },
      addresses: new Map([...keyed].map(([slug, { baseUrl }]) => [slug, baseUrl])),
      openedKeys: new OpenedKeys(this.vault, { random, deadlines }),
      keyUses: this.keyUses,
      storedBodies: new StoredBodies(this.stored, clock),
      deadlines,
      pace: new BatchPace(clock, random, config.BATCH_LINES_PER_SECOND),
      budget: new RetryBudget(),
      alarms: new ProviderAlarms(metrics, this.logger, clock),
      inFlight,
      revocations: new Revocations(this.limits, clock),
      watch,
      settling,
      store: this.responses,
      background: this.background,
      idempotency: this.idempotency,
      objects: this.objects,
      pressure: this.pressure,
      turns: new Turns(deadlines, random),
      responses: this.writer(deadlines),
      contents: this.contentsOf(deadlines),
      keepAliveMs: config.STREAM_KEEP_ALIVE_MS,
      drainDeadline: drain.deadline,
    };
    await registerEndpoints(instance, deps);
    registerSockets(instance, deps, drain);
    this.inference.use(deps);
    this.simulations.use({ ...deps, limits: this.limits });
    this.readiness.add('catalogue', () => hasSnapshot(this.catalogue) || 'no catalogue was loaded yet');
    registerDashboard(instance, readDashboard(config.DASHBOARD_DIR), random);
    registerReference(instance, referenceFiles('docs/openapi.json'));
    await registerFrontDoor(instance, frontDoor, random);
    this.logger.info({ providers: [...providers.keys()].join(', ') }, 'providers enabled');
  }

  private writer(deadlines: Deadlines): ResponseWriter {
    this.responseWriter = new ResponseWriter(this.responses, deadlines, (count, cause) =>
      this.logger.warn({ err: cause, count }, 'responses were not kept'),
    );
    return this.responseWriter;
  }

  private contentsOf(deadlines: Deadlines): ContentLog {
    const { contents: store, metrics, logger } = this;
    this.contentLog = new ContentLog({
      store,
      deadlines,
      onKept: (count) => metrics.contentsEnded('kept', count),
      onLost: (count, cause) => {
        metrics.contentsEnded('lost', count);
        logger.warn({ err: cause, count }, 'logged contents were lost');
      },
    });
    return this.contentLog;
  }

  /** Stops before the journal ships its last records. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.forgetting.stop();
    this.rejections?.flushAll();
    await this.responseWriter?.flush();
    await this.contentLog?.flush();
    await this.keyUses.stop();
    await this.credentialReports.stop();
    await this.routeReports.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.transport.close();
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

/** Inference and the front door. Needs the platform and the ports PrincipalReader, CatalogueReader and Funds. */
@Module({})
export class EdgeModule {
  static with(options: EdgeOptions): DynamicModule {
    return {
      module: EdgeModule,
      global: true,
      controllers: [LimitsController, InferenceController],
      providers: [
        { provide: OPTIONS, useValue: options },
        { provide: EdgeConfig, useValue: options.config },
        {
          provide: EdgeMetrics,
          inject: [Metrics, TRACER, CLOCK],
          useFactory: (metrics: Metrics, tracer: Tracer | null, clock: Clock) =>
            tracer === null
              ? new EdgeMetrics(metrics)
              : new TracedEdgeMetrics(metrics, tracer, () => clock.now()),
        },
        ResponseCache,
        JournalRuntime,
        LimitSimulations,
        EdgeInference,
        { provide: Inference, useExisting: EdgeInference },
        EdgeRoutes,
      ],
      exports: [Inference],
    };
  }
}

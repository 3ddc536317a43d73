import type { Provider } from '@nestjs/common';
import {
  Funds,
  LimitStore,
  PlatformCredentials,
  RequestContents,
  ResponseStore,
  RouteHealth,
  type Clock,
  type Random,
} from '@gateway/contracts';
import { Journal } from '@gateway/journal';
import { SettlementQueue } from '@gateway/limits';
import {
  activeTraceparent,
  CLOCK,
  Deadlines,
  Drain,
  LOGGER,
  Metrics,
  RANDOM,
  TRACER,
} from '@gateway/platform';
import { RetryBudget, RouteStats } from '@gateway/routing';
import { CircuitBreakers, UndiciTransport } from '@gateway/upstream';
import type { Tracer } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { BatchPace } from './admission/batch-pace.js';
import { Settling } from './admission/settling.js';
import { StoreWatch } from './admission/store-watch.js';
import { ForgetErased } from './cache/forget-erased.js';
import { ResponseCache } from './cache/response-cache.js';
import { EdgeConfig } from './config/edge.config.js';
import { RouteOffer } from './upstream/route-offer.js';
import { ProviderDirectory } from './config/provider-directory.js';
import { ContentLog } from './contents/content-log.js';
import { EdgeMetrics } from './metrics/edge-metrics.js';
import { TracedEdgeMetrics } from './metrics/traced-edge-metrics.js';
import { ResponseWriter } from './state/response-writer.js';
import { InFlight } from './units/in-flight.js';
import { JournalRecoveryJob } from './units/journal-recovery-job.js';
import { JournalReports } from './units/journal-reports.js';
import { resubmit } from './units/resubmit.js';
import { Settlements } from './units/settlements.js';
import { OpenedKeys, POOLED_KEYS } from './upstream/opened-keys.js';
import { CredentialReports } from './upstream/credential-reports.js';
import { HealthChecks } from './upstream/health-checks.js';
import { LastErrors, RouteReports } from './upstream/route-reports.js';

/** Name of this process among all that report. */
const EDGE_NAME = Symbol('EdgeName');

/**
 * A sync wakes another thread and comes back to this one: one for each answer would cost more than writing them. Answers
 * wait for the write, which kill -9 cannot take back, never for the gap: only a power cut may take so much more.
 */
const SYNC_GAP_MS = { usual: 10, busy: 50 };

/** The journal and what hangs on it. Nothing is recovered or shipped before the application starts. */
const JOURNAL: Provider[] = [
  JournalReports,
  Settlements,
  {
    provide: Journal,
    inject: [EdgeConfig, CLOCK, RANDOM, TRACER, JournalReports, Settlements],
    useFactory: async (
      config: EdgeConfig,
      clock: Clock,
      random: Random,
      tracer: Tracer | null,
      reports: JournalReports,
      settlements: Settlements,
    ) => {
      const journal = await Journal.open({
        dir: config.JOURNAL_DIR,
        producer: config.JOURNAL_PRODUCER,
        clock,
        random,
        sync: config.JOURNAL_SYNC,
        ack: config.JOURNAL_ACK,
        ackMs: config.JOURNAL_ACK_MS,
        ackFor: new Set(config.JOURNAL_ACK_ORGANIZATIONS),
        usageTopicVersion: config.USAGE_TOPIC_VERSION,
        ...(config.JOURNAL_SYNC === 'group' && { syncGapMs: SYNC_GAP_MS }),
        budgetBytes: config.JOURNAL_BUDGET_BYTES,
        traceparent: tracer === null ? undefined : activeTraceparent,
        onAlarm: (alarm) => reports.alarm(alarm),
        onSynced: (outcomes) => settlements.settle(outcomes),
      });
      settlements.follow(journal);
      return journal;
    },
  },
  { provide: SettlementQueue, inject: [Settlements], useFactory: ({ queue }: Settlements) => queue },
  { provide: Settling, inject: [Settlements], useFactory: ({ settling }: Settlements) => settling },
  {
    provide: InFlight,
    inject: [SettlementQueue, CLOCK, Drain],
    useFactory: (queue: SettlementQueue, clock: Clock, { deadline }: Drain) =>
      new InFlight(queue, clock, deadline),
  },
  {
    provide: StoreWatch,
    inject: [LimitStore, CLOCK, RANDOM, Journal, Funds, Settlements, InFlight, JournalReports],
    useFactory: (
      limits: LimitStore,
      clock: Clock,
      random: Random,
      journal: Journal,
      funds: Funds,
      settlements: Settlements,
      inFlight: InFlight,
      reports: JournalReports,
    ) =>
      new StoreWatch({
        limits,
        clock,
        random,
        resubmit: () =>
          resubmit({
            journal,
            funds,
            queue: settlements.queue,
            inFlight,
            settle: (outcomes) => settlements.settle(outcomes),
          }),
        onLoss: () => reports.storeLost(),
      }),
  },
  JournalRecoveryJob,
];

/** The way to providers. */
const PROVIDERS: Provider[] = [
  LastErrors,
  {
    provide: EDGE_NAME,
    inject: [RANDOM],
    useFactory: (random: Random) => Buffer.from(random.bytes(12)).toString('base64url'),
  },
  {
    provide: CredentialReports,
    inject: [RouteHealth, EDGE_NAME, RouteOffer, CLOCK, LOGGER],
    useFactory: (health: RouteHealth, edge: string, offer: RouteOffer, clock: Clock, logger: Logger) =>
      new CredentialReports(
        health,
        edge,
        () => offer.now(),
        clock,
        (failure) => logger.warn({ err: failure }, 'the providers with a credential were not reported'),
      ),
  },
  {
    provide: UndiciTransport,
    inject: [CLOCK, EdgeConfig, ProviderDirectory],
    useFactory: (clock: Clock, config: EdgeConfig, { tls }: ProviderDirectory) => {
      const { HTTPS_PROXY: url, NO_PROXY: except } = config;
      return new UndiciTransport({
        clock,
        connections: config.UPSTREAM_CONNECTIONS,
        connectTimeoutMs: config.UPSTREAM_CONNECT_TIMEOUT_MS,
        proxy: url === undefined ? undefined : { url, except },
        tls,
      });
    },
  },
  {
    provide: CircuitBreakers,
    inject: [CLOCK, RANDOM, EdgeMetrics, LastErrors, LOGGER, UndiciTransport],
    useFactory: (
      clock: Clock,
      random: Random,
      metrics: EdgeMetrics,
      errors: LastErrors,
      logger: Logger,
      transport: UndiciTransport,
    ) => {
      const breakers = new CircuitBreakers(clock, random, {
        onState: ({ provider, model }, state) => {
          metrics.breakerChanged(provider, state);
          logger.warn({ provider, model, state }, 'circuit breaker');
        },
        onFailure: ({ provider }, error) => errors.add(provider, error, clock.now()),
      });
      metrics.watch(breakers, transport);
      return breakers;
    },
  },
  {
    provide: POOLED_KEYS,
    inject: [PlatformCredentials, Deadlines, RANDOM],
    useFactory: (store: PlatformCredentials, deadlines: Deadlines, random: Random) =>
      new OpenedKeys({ open: (_account, id, version) => store.open(id, version) }, deadlines, random),
  },
  {
    provide: RouteReports,
    inject: [RouteStats, CircuitBreakers, LastErrors, HealthChecks, RouteHealth, CLOCK, EDGE_NAME, LOGGER],
    useFactory: (
      { figures }: RouteStats,
      breakers: CircuitBreakers,
      errors: LastErrors,
      { states: answers }: HealthChecks,
      health: RouteHealth,
      clock: Clock,
      edge: string,
      logger: Logger,
    ) =>
      new RouteReports({
        figures,
        breakers,
        errors,
        answers,
        health,
        clock,
        edge,
        onFault: (failure) => logger.warn({ err: failure }, 'how providers fare was not reported'),
      }),
  },
];

/** Writers behind the answers, and the loop that forgets erased end users. */
const WRITERS: Provider[] = [
  {
    provide: ResponseWriter,
    inject: [ResponseStore, Deadlines, LOGGER],
    useFactory: (store: ResponseStore, deadlines: Deadlines, logger: Logger) =>
      new ResponseWriter(store, deadlines, (count, cause) =>
        logger.warn({ err: cause, count }, 'responses were not kept'),
      ),
  },
  {
    provide: ContentLog,
    inject: [RequestContents, Deadlines, EdgeMetrics, LOGGER],
    useFactory: (store: RequestContents, deadlines: Deadlines, metrics: EdgeMetrics, logger: Logger) =>
      new ContentLog({
        store,
        deadlines,
        onStored: (count) => metrics.contentsEnded('kept', count),
        onDropped: (count, cause) => {
          metrics.contentsEnded('lost', count);
          logger.warn({ err: cause, count }, 'logged contents were lost');
        },
      }),
  },
  {
    provide: ForgetErased,
    inject: [ResponseCache, RequestContents, CLOCK, LOGGER],
    useFactory: (cache: ResponseCache, contents: RequestContents, clock: Clock, logger: Logger) =>
      new ForgetErased({
        cache,
        contents,
        clock,
        onFailure: (failure) =>
          logger.warn({ err: failure }, 'erasures could not be looked at, kept answers stay'),
      }),
  },
];

/** Parts of the edge that are made of its configuration, or drive something outside of it. */
export const EDGE_DRIVERS: Provider[] = [
  {
    provide: EdgeMetrics,
    inject: [Metrics, TRACER, CLOCK],
    useFactory: (metrics: Metrics, tracer: Tracer | null, clock: Clock) =>
      tracer === null ? new EdgeMetrics(metrics) : new TracedEdgeMetrics(metrics, tracer, () => clock.now()),
  },
  { provide: Deadlines, inject: [CLOCK], useFactory: (clock: Clock) => new Deadlines(clock) },
  { provide: RetryBudget, useFactory: () => new RetryBudget() },
  {
    provide: BatchPace,
    inject: [CLOCK, RANDOM, EdgeConfig],
    useFactory: (clock: Clock, random: Random, { BATCH_LINES_PER_SECOND }: EdgeConfig) =>
      new BatchPace(clock, random, BATCH_LINES_PER_SECOND),
  },
  ...JOURNAL,
  ...PROVIDERS,
  ...WRITERS,
];

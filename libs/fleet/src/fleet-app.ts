import type { DynamicModule, Type } from '@nestjs/common';
import type { BootConfig, ServiceName, Metrics, Tls } from '@gateway/platform';
import { fleetServices, PlatformModule, bootstrap, SystemClock, type RunningApp } from '@gateway/platform';
import { connectEventLog, ConsumerLag, kafkaAccess, KafkaEventLog } from '@gateway/event-log';
import type { FleetSettings } from './fleet-settings.js';
import { ConnectedLimitStore } from './redis/connect-redis.js';
import { refuseEviction } from './redis/eviction.js';
import { redisAddress } from './redis/redis.config.js';

/** The use of Redis by an edge, which goes on without it, unlike the other services. */
export interface EdgeLimits {
  /** Edge processes of the fleet. */
  edges: number;
  commandTimeoutMs: number;
}

/**
 * Starts one service of a fleet on Kafka and Redis; `imports` are its own module and the twins of the ports it lacks.
 * Throws ConfigError if Redis may evict keys.
 */
export async function startFleetApp(
  name: ServiceName,
  config: FleetSettings,
  imports: (DynamicModule | Type<unknown>)[],
  edge: { limits?: EdgeLimits; tls?: Tls | null } = {},
): Promise<RunningApp> {
  await refuseEviction(redisAddress(config), new SystemClock());
  const module = {
    module: class FleetApp {},
    imports: [fleetPlatform(name, config, edge.limits), ...imports],
  };
  const boot = {
    host: config.HOST,
    port: config.PORT,
    tls: edge.tls,
    drainAcceptMs: config.DRAIN_ACCEPT_MS,
    drainGraceMs: config.DRAIN_GRACE_MS,
    trustedProxies: config.TRUSTED_PROXIES,
    metrics: metricsOf(config),
  };
  return bootstrap({ name, module, config: boot, connect: connectEventLog });
}

/** Off the public port, unless a setting puts them there. */
function metricsOf({ HOST: host, PORT, METRICS_PORT: port }: FleetSettings): BootConfig['metrics'] {
  if (port === undefined) return null;
  return port === PORT && port !== 0 ? undefined : { host, port };
}

function fleetPlatform(
  name: ServiceName,
  config: FleetSettings,
  edgeLimits: EdgeLimits | undefined,
): DynamicModule {
  const [fleetToken, ...otherFleetTokens] = config.FLEET_TOKEN;
  return PlatformModule.with({
    service: name,
    logLevel: config.LOG_LEVEL,
    fleetToken,
    otherFleetTokens,
    services: fleetServices(config),
    otlpEndpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
    otlpHeaders: config.OTEL_EXPORTER_OTLP_HEADERS ?? null,
    eventLog: ({ clock, random, logger, metrics }) => {
      const lag = new ConsumerLag(metrics);
      return new KafkaEventLog({
        ...kafkaAccess(config),
        clientId: name,
        sessionTimeoutMs: config.KAFKA_SESSION_TIMEOUT_MS,
        clock,
        random,
        onFault: (error) => {
          lag.failed();
          logger.error({ err: error }, 'the event log failed and goes on');
        },
        onNotice: (level, message) => logger[level]({ reason: message }, 'kafka client'),
        onLag: (group, topic, partition, records) => lag.behind(group, topic, partition, records),
      });
    },
    limitStore: ({ clock, random, logger, metrics }) =>
      new ConnectedLimitStore({
        ...redisAddress(config),
        ...edgeLimits,
        clock,
        random,
        clientName: name,
        onNotice: (error) => logger.warn({ err: error }, 'redis client'),
        onBreaker: openBreakers(metrics),
      }),
  });
}

/** Breakers in front of Redis nodes, added up. */
function openBreakers(metrics: Metrics): (state: 'open' | 'closed') => void {
  let open = 0;
  metrics.gauge(
    'gateway_redis_breakers_open',
    'Redis nodes that are left alone for not answering.',
    () => open,
  );
  return (state) => {
    open += state === 'open' ? 1 : -1;
  };
}

import {
  ArrayNotEmpty,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  MinLength,
  ValidateIf,
} from 'class-validator';
import type { ServiceName } from '../http/internal-http.js';
import { LOG_LEVELS, type LogLevel } from '../logging/logger.js';
import { ConfigError, loadConfig } from './load-config.js';
import { OrFile } from './or-file.js';
import { ToList, ToNumber } from './transforms.js';
import { IsTrustedProxies, type TrustedProxies } from './trusted-proxies.js';

const HTTP_URL = /^https?:\/\/[^/]+$/;
const HOST_AND_PORT = /^[^\s:/]+:\d{1,5}$/;

/** What every process of a fleet is told. The services' own settings are classes of their own. */
export class FleetConfig {
  @IsString() HOST: string = '127.0.0.1';
  /** 0 = any free port. */
  @ToNumber() @IsInt() @Min(0) @Max(65_535) PORT: number = 8080;
  /** Proxies before this service whose X-Forwarded-For is believed; without it the header is ignored. */
  @IsOptional() @IsTrustedProxies() TRUSTED_PROXIES?: TrustedProxies;
  /** How long requests under way may go on after SIGTERM. */
  @ToNumber() @IsInt() @Min(0) @Max(3_600_000) DRAIN_GRACE_MS: number = 120_000;
  @IsIn(LOG_LEVELS) LOG_LEVEL: LogLevel = 'info';
  /** Shared secret of the services, for /internal paths. */
  @OrFile() @IsString() @MinLength(32) FLEET_TOKEN!: string;
  /** redis://[user:password@]host:port[/database]; REDIS_CLUSTER_NODES takes its place. */
  @ValidateIf((config: FleetConfig) => config.REDIS_CLUSTER_NODES === undefined)
  @Matches(/^rediss?:\/\//)
  REDIS_URL?: string;
  /** host:port of some nodes of a Redis Cluster; the others are learnt from them. */
  @IsOptional()
  @ToList()
  @ArrayNotEmpty()
  @Matches(HOST_AND_PORT, { each: true })
  REDIS_CLUSTER_NODES?: string[];
  /** host:port of some brokers. */
  @ToList() @ArrayNotEmpty() @Matches(HOST_AND_PORT, { each: true }) KAFKA_BROKERS!: string[];
  /** How long a consumer that died keeps its partitions: until then nobody reads them. */
  @ToNumber() @IsInt() @Min(6_000) @Max(300_000) KAFKA_SESSION_TIMEOUT_MS: number = 30_000;
  /** Base URLs of the other services, without a slash at the end. */
  @IsOptional() @Matches(HTTP_URL) KEYS_URL?: string;
  @IsOptional() @Matches(HTTP_URL) CATALOGUE_URL?: string;
  @IsOptional() @Matches(HTTP_URL) USAGE_URL?: string;
  @IsOptional() @Matches(HTTP_URL) NOTIFICATIONS_URL?: string;
  @IsOptional() @Matches(HTTP_URL) WORKERS_URL?: string;
  @IsOptional() @Matches(HTTP_URL) EDGE_URL?: string;
  /** OTLP over HTTP, for example http://collector:4318/v1/traces; absent = no tracing. */
  @IsOptional() @Matches(/^https?:\/\//) OTEL_EXPORTER_OTLP_ENDPOINT?: string;
}

export type NeighbourVariable = 'KEYS_URL' | 'CATALOGUE_URL' | 'USAGE_URL';
type Environment = Readonly<Record<string, string | undefined>>;

/** The fleet's settings, and a fault for each neighbour that this app cannot do without and was not told of. */
export function readFleetConfig(
  required: readonly NeighbourVariable[],
  env: Environment,
): Readonly<FleetConfig> {
  return readConfigs({
    fleet: () => loadConfig(FleetConfig, env),
    neighbours: () => {
      const missing = required.filter((name) => (env[name] ?? '') === '');
      if (missing.length > 0)
        throw new ConfigError(missing.map((name) => `${name}: the address of that service`));
    },
  }).fleet;
}

/** This process's environment, where `<SERVICE>_DATABASE_URL` falls back to DATABASE_URL, each also as a file's path. */
export function serviceEnvironment(service?: ServiceName, env: Environment = process.env): Environment {
  if (service === undefined) return env;
  const name = `${service.toUpperCase()}_DATABASE_URL`;
  if ((env[name] ?? '') !== '' || (env[`${name}_FILE`] ?? '') !== '') return env;
  return { ...env, [name]: env.DATABASE_URL, [`${name}_FILE`]: env.DATABASE_URL_FILE };
}

/** Base URL by service, as InternalHttp takes them. */
export function fleetServices(config: Readonly<FleetConfig>): Partial<Record<ServiceName, string>> {
  return {
    edge: config.EDGE_URL,
    catalogue: config.CATALOGUE_URL,
    keys: config.KEYS_URL,
    usage: config.USAGE_URL,
    notifications: config.NOTIFICATIONS_URL,
    workers: config.WORKERS_URL,
  };
}

/** Reads several configurations and throws ONE ConfigError with the faults of all of them. */
export function readConfigs<T extends Record<string, unknown>>(readers: {
  [Name in keyof T]: () => T[Name];
}): T {
  const faults = new Set<string>();
  const read: Partial<T> = {};
  for (const name in readers) {
    try {
      read[name] = readers[name]();
    } catch (failure) {
      // A plain TypeError is how a reader of another kind says what is wrong with one variable.
      if (failure instanceof ConfigError) for (const fault of failure.faults) faults.add(fault);
      else if (failure instanceof TypeError) faults.add(failure.message);
      else throw failure;
    }
  }
  if (faults.size > 0) throw new ConfigError([...faults]);
  return read as T;
}

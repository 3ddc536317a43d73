import { ArrayNotEmpty, IsIn, IsInt, IsOptional, Matches, Max, Min, MinLength } from 'class-validator';
import type { ServiceName } from '../errors/service-unavailable.js';
import { LOG_LEVELS, type LogLevel } from '../logging/logger.js';
import { ConfigError } from './load-config.js';
import { OrFile } from './or-file.js';
import { ToList, ToNumber } from './transforms.js';
import { IsTrustedProxies, type TrustedProxies } from './trusted-proxies.js';
import { HEADER_PAIRS, IsAddress, IsHost } from './validators.js';

const NO_PATH = /^https?:\/\/[^/]+$/;

/** Settings of every process of a fleet beside its drivers'; the services' own are classes of their own. */
export class FleetConfig {
  @IsHost() HOST: string = '127.0.0.1';
  /** 0 = any free port. */
  @ToNumber() @IsInt() @Min(0) @Max(65_535) PORT: number = 8080;
  /** Port of /metrics, 0 = any free port; PORT's own number puts it there. Absent = no metrics. */
  @IsOptional() @ToNumber() @IsInt() @Min(0) @Max(65_535) METRICS_PORT?: number;
  /** Proxies before this service whose X-Forwarded-For is believed; without it the header is ignored. */
  @IsOptional() @IsTrustedProxies() TRUSTED_PROXIES?: TrustedProxies;
  /** Time for which new requests are served after SIGTERM, while /readyz is 503. */
  @ToNumber() @IsInt() @Min(0) @Max(600_000) DRAIN_ACCEPT_MS: number = 10_000;
  /** Time for which requests under way may go on after that. */
  @ToNumber() @IsInt() @Min(0) @Max(3_600_000) DRAIN_GRACE_MS: number = 120_000;
  @IsIn(LOG_LEVELS) LOG_LEVEL: LogLevel = 'info';
  /** Shared secrets of the services, for /internal paths: the first is sent, each is accepted. */
  @OrFile() @ToList() @ArrayNotEmpty() @MinLength(32, { each: true }) FLEET_TOKEN!: string[];
  /** Base URLs of the other services, without a slash at the end. */
  @IsOptional() @Matches(NO_PATH) @IsAddress('http', 'https') KEYS_URL?: string;
  @IsOptional() @Matches(NO_PATH) @IsAddress('http', 'https') CATALOGUE_URL?: string;
  @IsOptional() @Matches(NO_PATH) @IsAddress('http', 'https') USAGE_URL?: string;
  @IsOptional() @Matches(NO_PATH) @IsAddress('http', 'https') NOTIFICATIONS_URL?: string;
  @IsOptional() @Matches(NO_PATH) @IsAddress('http', 'https') WORKERS_URL?: string;
  @IsOptional() @Matches(NO_PATH) @IsAddress('http', 'https') EDGE_URL?: string;
  /** OTLP over HTTP, for example http://collector:4318, below which /v1/traces is added; absent = no tracing. */
  @IsOptional() @IsAddress('http', 'https') OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  /** Headers that the collector asks for, such as a token: name=value with commas between, values percent-encoded. */
  @OrFile() @IsOptional() @Matches(HEADER_PAIRS) OTEL_EXPORTER_OTLP_HEADERS?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

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

import { IsIn, IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';
import { readCatalogueConfig, type CatalogueConfig } from '@gateway/catalogue';
import { EdgeConfig, enabledProviders } from '@gateway/edge';
import { keyedProviders, withBilling } from '@gateway/upstream';
import { readKeysConfig, type KeysConfig } from '@gateway/keys';
import { MailConfig } from '@gateway/mail';
import { readNotificationsConfig, type NotificationsConfig } from '@gateway/notifications';
import {
  ConfigError,
  HEADER_PAIRS,
  IsAddress,
  IsHost,
  IsTrustedProxies,
  isWritableFolder,
  IsWritableFolder,
  loadConfig,
  LOG_LEVELS,
  OrFile,
  readConfigs,
  readTls,
  ToNumber,
  type LogLevel,
  type Tls,
  type TrustedProxies,
} from '@gateway/platform';
import { ObjectStoreConfig } from '@gateway/object-store';
import { readUsageConfig, type UsageConfig } from '@gateway/usage';
import { WorkersConfig } from '@gateway/workers';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Settings of the one process. Names are the environment's; the services keep their own. */
export class AllInOneConfig {
  @IsHost() HOST: string = '127.0.0.1';
  /** 0 = any free port. */
  @ToNumber() @IsInt() @Min(0) @Max(65_535) PORT: number = 8080;
  /**
   * Port of /metrics, on 127.0.0.1 whatever HOST is. Absent = beside everything else where HOST is of this machine alone,
   * and nowhere otherwise.
   */
  @IsOptional() @ToNumber() @IsInt() @Min(0) @Max(65_535) METRICS_PORT?: number;
  /** Proxies before the gateway whose X-Forwarded-For is believed; without it the header is ignored. */
  @IsOptional() @IsTrustedProxies() TRUSTED_PROXIES?: TrustedProxies;
  /** No other process takes over what it refuses, so that nothing is gained by waiting. */
  @ToNumber() @IsInt() @Min(0) @Max(600_000) DRAIN_ACCEPT_MS: number = 0;
  /** Shorter than a fleet's: who presses Ctrl-C waits for it. */
  @ToNumber() @IsInt() @Min(0) @Max(3_600_000) DRAIN_GRACE_MS: number = 30_000;
  @IsIn(LOG_LEVELS) LOG_LEVEL: LogLevel = 'info';
  /** Database, journal, secrets and logs; created when absent. */
  @IsString() @IsWritableFolder() GATEWAY_DATA_DIR: string = '.data';
  /** A PostgreSQL of one's own in place of the embedded one. */
  @OrFile() @IsOptional() @IsAddress('postgres', 'postgresql') DATABASE_URL?: string;
  @IsOptional() @IsAddress('http', 'https') OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  @OrFile() @IsOptional() @Matches(HEADER_PAIRS) OTEL_EXPORTER_OTLP_HEADERS?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Paths in the data folder; absolute. */
export interface DataPaths {
  dir: string;
  postgres: string;
  journal: string;
  secrets: string;
  notificationsSecrets: string;
  usageSecrets: string;
  logs: string;
  firstRun: string;
  mail: string;
  objects: string;
}

export interface ServiceConfigs {
  catalogue: Readonly<CatalogueConfig>;
  keys: Readonly<KeysConfig>;
  usage: Readonly<UsageConfig>;
  notifications: Readonly<NotificationsConfig>;
  workers: Readonly<WorkersConfig>;
  edge: Readonly<EdgeConfig>;
  mail: Readonly<MailConfig>;
  objects: Readonly<ObjectStoreConfig>;
  providers: ReturnType<typeof enabledProviders>;
  keyed: ReturnType<typeof keyedProviders>;
}

/** Reads the settings before anything runs; a wrong variable of a service is found here, too. */
export function readSettings(env: Environment = process.env): {
  config: Readonly<AllInOneConfig>;
  tls: Tls | null;
  env: Environment;
} {
  const unknownYet = { databaseUrl: 'postgresql://127.0.0.1/postgres', simulatorUrl: 'http://127.0.0.1:1' };
  const dir = env.GATEWAY_DATA_DIR || '.data';
  // What would stand in a folder that cannot be written is no fault of its own.
  const paths = dataPaths(isWritableFolder(dir) ? dir : tmpdir());
  const { config, tls } = readConfigs({
    config: () => loadConfig(AllInOneConfig, env),
    tls: () => readTls(env),
    services: () => readServices(env, paths, unknownYet),
  });
  return { config, tls, env };
}

export function dataPaths(folder: string): DataPaths {
  const dir = resolve(folder);
  return {
    dir,
    postgres: join(dir, 'postgres'),
    journal: join(dir, 'journal'),
    secrets: join(dir, 'secrets.json'),
    notificationsSecrets: join(dir, 'notifications-secrets.json'),
    usageSecrets: join(dir, 'usage-secrets.json'),
    logs: join(dir, 'logs'),
    firstRun: join(dir, 'first-run.json'),
    mail: join(dir, 'mail'),
    objects: join(dir, 'objects'),
  };
}

/** The services' settings: the environment's, and what one process decides for them. */
export function readServices(
  env: Environment,
  paths: DataPaths,
  running: { databaseUrl: string; simulatorUrl: string },
): ServiceConfigs {
  const { databaseUrl, simulatorUrl } = running;
  const isTls = [env.TLS_CERT, env.TLS_CERT_FILE].some((value) => (value ?? '') !== '');
  const address = `http${isTls ? 's' : ''}://127.0.0.1`;
  // What is made of a faulty setting is no fault of its own.
  const withPort = `${address}:${env.PORT || '8080'}`;
  const ownUrl = URL.canParse(withPort) ? withPort : address;
  const publicUrl = /^https?:/.test(env.KEYS_PUBLIC_URL ?? '') ? env.KEYS_PUBLIC_URL : ownUrl;
  const decided = {
    ...env,
    CATALOGUE_DATABASE_URL: databaseUrl,
    KEYS_DATABASE_URL: databaseUrl,
    USAGE_DATABASE_URL: databaseUrl,
    NOTIFICATIONS_DATABASE_URL: databaseUrl,
    CATALOGUE_DATABASE_URL_FILE: undefined,
    KEYS_DATABASE_URL_FILE: undefined,
    USAGE_DATABASE_URL_FILE: undefined,
    NOTIFICATIONS_DATABASE_URL_FILE: undefined,
    WORKERS_DATABASE_URL: databaseUrl,
    WORKERS_DATABASE_URL_FILE: undefined,
    // One process holds the edge as well and alone changes keys.
    KEYS_PRINCIPAL_CACHE: 'true',
    KEYS_SECRETS_FILE: env.KEYS_SECRETS_FILE || paths.secrets,
    KEYS_SECRETS_CREATE: 'true',
    KEYS_PUBLIC_URL: env.KEYS_PUBLIC_URL || ownUrl,
    MAIL_DIR: env.MAIL_DIR || paths.mail,
    NOTIFICATIONS_SECRETS_FILE: env.NOTIFICATIONS_SECRETS_FILE || paths.notificationsSecrets,
    NOTIFICATIONS_SECRETS_CREATE: 'true',
    USAGE_SECRETS_FILE: env.USAGE_SECRETS_FILE || paths.usageSecrets,
    USAGE_SECRETS_CREATE: 'true',
    ALERTS_PUBLIC_URL: env.ALERTS_PUBLIC_URL || publicUrl,
    OBJECT_STORE_DIR: env.OBJECT_STORE_DIR || paths.objects,
    OBJECT_STORE_PUBLIC_URL: env.OBJECT_STORE_PUBLIC_URL || publicUrl,
    BILLING_RETURN_URL: env.BILLING_RETURN_URL || `${publicUrl}/dashboard/`,
    JOURNAL_DIR: env.JOURNAL_DIR || paths.journal,
    SIMULATED_PROVIDER: 'true',
    SIMULATED_API_KEY: 'built-in',
    SIMULATED_BASE_URL: `${simulatorUrl}/v1`,
    SIMULATED_MESSAGES_BASE_URL: simulatorUrl,
  };
  return readConfigs({
    catalogue: () => readCatalogueConfig(decided),
    keys: () => readKeysConfig(decided),
    usage: () => readUsageConfig(withBilling(decided)),
    notifications: () => readNotificationsConfig(decided),
    workers: () => loadConfig(WorkersConfig, decided),
    edge: () => ownEdge(decided),
    mail: () => loadConfig(MailConfig, decided),
    objects: () => loadConfig(ObjectStoreConfig, decided),
    providers: () => enabledProviders(decided),
    keyed: () => keyedProviders(decided),
  });
}

/** Throws ConfigError where answers would wait for brokers: this process keeps its event log in memory. */
function ownEdge(env: Environment): Readonly<EdgeConfig> {
  const config = loadConfig(EdgeConfig, withBilling(env));
  if (config.JOURNAL_ACK_ORGANIZATIONS.length > 0)
    throw new ConfigError(['JOURNAL_ACK_ORGANIZATIONS: one process has no brokers, so leave it empty']);
  if (config.JOURNAL_ACK === 'kafka')
    throw new ConfigError([
      'JOURNAL_ACK: kafka needs a fleet with brokers; one process has none, so say disk',
    ]);
  return config;
}

import type { DynamicModule } from '@nestjs/common';
import { EventLog, Funds, type Clock, type Random } from '@gateway/contracts';
import { randomBytes } from 'node:crypto';
import {
  CATALOGUE_SCHEMA,
  CATALOGUE_SCHEMA_DIR,
  CatalogueModule,
  OwnEntries,
  type ServerOffer,
} from '@gateway/catalogue';
import { EdgeModule, START_SHIPPER, type StartShipper } from '@gateway/edge';
import { FirstRun, KEYS_SCHEMA, KEYS_SCHEMA_DIR, KeysModule, OpeningCredit } from '@gateway/keys';
import { MailModule } from '@gateway/mail';
import { NOTIFICATIONS_SCHEMA, NOTIFICATIONS_SCHEMA_DIR, NotificationsModule } from '@gateway/notifications';
import { applyMigrations, EmbeddedPostgres, freePort, listenOnce } from '@gateway/database';
import { connectEventLog, InProcessEventLog, startInProcessShipper } from '@gateway/event-log';
import { ObjectStoreModule } from '@gateway/object-store';
import {
  bootstrap,
  createLogger,
  logDestination,
  PlatformModule,
  releaseOf,
  type BootConfig,
  type RunningApp,
  type Tls,
  CLOCK,
  RANDOM,
} from '@gateway/platform';
import { startUpstreamSim } from '@gateway/simulator';
import { seededLimitStore, USAGE_SCHEMA, USAGE_SCHEMA_DIR, UsageModule } from '@gateway/usage';
import { WORKERS_SCHEMA, WORKERS_SCHEMA_DIR, WorkersModule } from '@gateway/workers';
import type { DestinationStream, Logger } from 'pino';
import {
  dataPaths,
  readServices,
  type AllInOneConfig,
  type DataPaths,
  type readSettings,
  type ServiceConfigs,
} from './all-in-one.config.js';
import { logFile, prepareDataFolder } from './data-folder.js';
import { rememberFirstRun, type FirstLogin } from './first-login.js';

const useFactory =
  (eventLog: EventLog, funds: Funds, clock: Clock, random: Random): StartShipper =>
  (events) =>
    startInProcessShipper({ eventLog, funds, clock, random, events });

/** The journal goes to the event log in memory, and behind the ledger's watermark its segments go. */
const InProcessShipperModule: DynamicModule = {
  module: class InProcessShippers {},
  global: true,
  providers: [{ provide: START_SHIPPER, useFactory, inject: [EventLog, Funds, CLOCK, RANDOM] }],
  exports: [START_SHIPPER],
};

export interface AllInOne {
  url: string;
  /** The plaintexts of the first run; null where its file was removed. */
  login: FirstLogin | null;
  isFirstRun: boolean;
  logFile: string;
  /** Names of the providers that have a credential. */
  providers: string[];
  /** Servers of the operator's, with the models that they offered at the start or why none. */
  servers: ServerOffer[];
  /** Milliseconds until those are asked again. */
  askedEveryMs: number;
  /** Every endpoint of the six services, with who may call it. */
  routes: RunningApp['routes'];
  /** Drains, ships the journal, then stops the database. Idempotent. */
  close(): Promise<void>;
}

type Stop = () => Promise<void>;

const SERVICE = 'all-in-one';

/** Starts the database, the simulated provider and the six services in this process; on a failure stops them again. */
export async function startAllInOne({
  config,
  tls,
  env,
}: ReturnType<typeof readSettings>): Promise<AllInOne> {
  const paths = dataPaths(config.GATEWAY_DATA_DIR);
  const stops: Stop[] = [];
  const stopAll = async (): Promise<void> => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  try {
    const port = await choosePort(config);
    prepareDataFolder(paths);
    const log = logFile(paths);
    const logTo = logDestination(log);
    const logger = createLogger({ service: SERVICE, level: config.LOG_LEVEL }, logTo);
    const databaseUrl = config.DATABASE_URL ?? (await startDatabase(paths, stops, logger));
    await migrate(databaseUrl);
    const simulator = await startUpstreamSim({ record: 0, now: () => Date.now() });
    stops.push(() => simulator.close());
    const services = readServices({ ...env, PORT: String(port) }, paths, {
      databaseUrl,
      simulatorUrl: simulator.url,
    });
    const app = await startServices({ ...config, PORT: port }, services, { databaseUrl, logTo, tls });
    stops.push(() => app.close());
    const first = await app.app.get(FirstRun, { strict: false }).run({ withKey: true });
    const login = rememberFirstRun(paths.firstRun, first);
    // The first request of a new key must find its money.
    if (first !== null) await app.app.get(OpeningCredit, { strict: false }).deliver();
    return {
      url: app.url,
      login,
      isFirstRun: first !== null,
      logFile: log,
      providers: [...services.providers.values()].map(({ provider }) => provider.name),
      servers: app.app.get(OwnEntries, { strict: false }).offers(),
      askedEveryMs: services.catalogue.DISCOVERY_MS,
      routes: app.routes,
      close: stopAll,
    };
  } catch (failure) {
    await stopAll();
    throw failure;
  }
}

/**
 * The port, or a free one for 0. Asked before the database starts, so that a wrong one costs nothing, and addresses that
 * are handed out later name the real one. Rejects with Node's EADDRINUSE, EACCES or EADDRNOTAVAIL.
 */
async function choosePort({ PORT: port, HOST: host }: Readonly<AllInOneConfig>): Promise<number> {
  if (port === 0) return freePort({ host });
  await listenOnce(port, host);
  return port;
}

async function startDatabase({ postgres }: DataPaths, stops: Stop[], logger: Logger): Promise<string> {
  const server = new EmbeddedPostgres({
    dataDir: postgres,
    onEnd: (reason) => logger.error({ reason }, 'PostgreSQL has ended and is started again'),
  });
  const { url } = await server.start();
  stops.push(() => server.stop());
  // The last word where somebody does not wait for the orderly end: PostgreSQL rolls back and stops by itself.
  process.once('exit', () => {
    try {
      if (server.pid !== undefined) process.kill(server.pid, 'SIGINT');
    } catch {
      // It has ended already.
    }
  });
  return url;
}

async function migrate(url: string): Promise<void> {
  const release = releaseOf(import.meta.dirname);
  await Promise.all([
    applyMigrations({ url, release, schema: CATALOGUE_SCHEMA, schemaDir: CATALOGUE_SCHEMA_DIR }),
    applyMigrations({ url, release, schema: KEYS_SCHEMA, schemaDir: KEYS_SCHEMA_DIR }),
    applyMigrations({ url, release, schema: USAGE_SCHEMA, schemaDir: USAGE_SCHEMA_DIR }),
    applyMigrations({ url, release, schema: NOTIFICATIONS_SCHEMA, schemaDir: NOTIFICATIONS_SCHEMA_DIR }),
    applyMigrations({ url, release, schema: WORKERS_SCHEMA, schemaDir: WORKERS_SCHEMA_DIR }),
  ]);
}

function startServices(
  config: Readonly<AllInOneConfig>,
  services: ServiceConfigs,
  { databaseUrl, logTo, tls }: { databaseUrl: string; logTo: DestinationStream; tls: Tls | null },
): Promise<RunningApp> {
  const platform = PlatformModule.with({
    service: SERVICE,
    logLevel: config.LOG_LEVEL,
    logTo,
    // Nobody else calls /internal of this process.
    fleetToken: randomBytes(32).toString('base64url'),
    otlpEndpoint: config.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
    otlpHeaders: config.OTEL_EXPORTER_OTLP_HEADERS ?? null,
    eventLog: ({ clock, random, logger }) =>
      new InProcessEventLog({
        clock,
        random,
        onFault: (error) => logger.error({ err: error }, 'a batch of events failed and comes again'),
      }),
    limitStore: (parts) => seededLimitStore(parts, databaseUrl),
  });
  const module = {
    module: class AllInOneApp {},
    imports: [
      platform,
      MailModule.with(services.mail),
      ObjectStoreModule.with(services.objects),
      KeysModule.with(services.keys, services.keyed),
      CatalogueModule.with(services.catalogue),
      UsageModule.with(services.usage),
      NotificationsModule.with(services.notifications),
      WorkersModule.with(services.workers),
      InProcessShipperModule,
      EdgeModule.with({
        config: services.edge,
        providers: services.providers,
        keyed: services.keyed,
        frontDoor: {},
      }),
    ],
  };
  const boot = {
    host: config.HOST,
    port: config.PORT,
    tls,
    drainAcceptMs: config.DRAIN_ACCEPT_MS,
    drainGraceMs: config.DRAIN_GRACE_MS,
    trustedProxies: config.TRUSTED_PROXIES,
    metrics: metricsOf(config),
  };
  return bootstrap({ name: SERVICE, module, config: boot, connect: connectEventLog });
}

/** Metrics never leave the machine. */
function metricsOf({ HOST, METRICS_PORT: port }: Readonly<AllInOneConfig>): BootConfig['metrics'] {
  if (port !== undefined) return { host: '127.0.0.1', port };
  return ['127.0.0.1', '::1', 'localhost'].includes(HOST) ? undefined : null;
}

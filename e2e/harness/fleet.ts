import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CATALOGUE_SCHEMA, CATALOGUE_SCHEMA_DIR } from '@gateway/catalogue';
import { KEYS_SCHEMA, KEYS_SCHEMA_DIR } from '@gateway/keys';
import { applyMigrations } from '@gateway/database';
import { startUpstreamSim } from '@gateway/simulator';
import { eventually, ownKafka, testPostgres, testRedis, type Program } from '@gateway/testing';
import { USAGE_SCHEMA, USAGE_SCHEMA_DIR } from '@gateway/usage';
import { endProgram, freePorts, startBuilt, untilReady } from './built-program.js';
import type { Gateway } from './gateway.js';
import { logIn } from './session.js';

/** The edge stops first, so that what it finished is still taken. */
export const FLEET_APPS = ['edge', 'catalogue', 'keys', 'usage', 'notifications', 'workers'] as const;
export type FleetApp = (typeof FLEET_APPS)[number];

export interface Fleet extends Gateway {
  /** Addresses of the services, for what the front door does not pass on. */
  urls: Readonly<Record<FleetApp, string>>;
  fleetToken: string;
  /** The servers underneath: SQL and commands of a test's own, faults. */
  databaseUrl: string;
  redisUrl: string;
  kafka: Awaited<ReturnType<typeof ownKafka>>;
  /** What every service is told, for further processes of a test's own. */
  environment: Readonly<Record<string, string>>;
  /** SIGTERM of one service. @returns what it ended with. */
  end(app: FleetApp): Promise<number | string>;
  /** kill -9 of one service. */
  kill(app: FleetApp): Promise<void>;
  /** Starts it again at its old address and waits until it is ready. */
  restart(app: FleetApp): Promise<void>;
}

export interface FleetOptions {
  /** Further variables of one app or, under `all`, of every one. */
  env?: Partial<Record<FleetApp | 'all', Record<string, string>>>;
  /** Told the addresses before anything starts, for a test that puts something of its own before them. */
  onAddresses?: (urls: Readonly<Record<FleetApp, string>>) => void;
  /** Those that are started; default: all six. */
  apps?: readonly FleetApp[];
}

/** The six built services before a real Kafka, Redis and PostgreSQL, and the simulated provider in this process. */
export async function startFleet(options: FleetOptions = {}): Promise<Fleet> {
  const undo: (() => unknown)[] = [];
  const undoAll = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return await start(options, undo, undoAll);
  } catch (failure) {
    await undoAll();
    throw failure;
  }
}

async function start(
  options: FleetOptions,
  undo: (() => unknown)[],
  undoAll: () => Promise<void>,
): Promise<Fleet> {
  const under = await startServers(undo);
  const ports = await freePorts(FLEET_APPS.length);
  const urls = Object.fromEntries(
    FLEET_APPS.map((app, at) => [app, `http://127.0.0.1:${ports[at]}`]),
  ) as Record<FleetApp, string>;
  options.onAddresses?.(urls);
  const fleetToken = randomBytes(32).toString('base64url');
  const shared = { ...sharedEnvironment(under, urls, fleetToken), ...options.env?.all };
  const programs = new Map<FleetApp, Program>();
  const ended: Record<string, number | string> = {};
  undo.push(async () => {
    const end = async (app: FleetApp): Promise<void> => {
      const program = programs.get(app);
      if (program) ended[app] = await endProgram(program);
    };
    await end('edge');
    await Promise.all(FLEET_APPS.filter((app) => app !== 'edge').map(end));
  });
  const launch = async (app: FleetApp): Promise<void> => {
    const env = { ...shared, PORT: new URL(urls[app]).port, ...options.env?.[app] };
    programs.set(app, await startBuilt(app, { env, readyWhen: /"msg":"listening"/ }));
  };
  // All of them have started or failed before one failure ends the others: none is left that nobody knows.
  const apps = options.apps ?? FLEET_APPS;
  const launched = await Promise.allSettled(apps.map(launch));
  for (const result of launched) if (result.status === 'rejected') throw result.reason;
  await Promise.all(apps.map((app) => untilReady(urls[app])));
  const admin = await firstLogin(programs.get('keys'));
  const outputOf = (app: string): string => programs.get(app as FleetApp)?.output() ?? '';
  return {
    url: urls.edge,
    urls,
    fleetToken,
    environment: shared,
    databaseUrl: under.databaseUrl,
    redisUrl: under.redisUrl,
    kafka: under.kafka,
    key: await firstKey(urls.edge, admin),
    admin,
    get pids() {
      return Object.fromEntries([...programs].map(([app, { pid }]) => [app, pid]));
    },
    output: outputOf,
    end: async (app) => {
      const program = programs.get(app);
      if (program === undefined) throw new Error(`${app} does not run.`);
      return endProgram(program);
    },
    kill: async (app) => programs.get(app)?.kill(),
    restart: async (app) => {
      await launch(app);
      await untilReady(urls[app]);
    },
    stop: async () => {
      await undoAll();
      return ended;
    },
  };
}

interface Servers {
  databaseUrl: string;
  redisUrl: string;
  kafka: Awaited<ReturnType<typeof ownKafka>>;
  simulatorUrl: string;
  folder: string;
}

/** A broker of its own: topics and groups of a fleet have fixed names. */
async function startServers(undo: (() => unknown)[]): Promise<Servers> {
  const [postgres, redis, kafka, simulator] = await Promise.all([
    testPostgres(),
    testRedis(),
    ownKafka(),
    startUpstreamSim({ record: 0 }),
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'fleet-'));
  undo.push(
    () => rmSync(folder, { recursive: true, force: true }),
    () => Promise.all([postgres.drop(), redis.drop(), kafka.server.drop(), simulator.close()]),
  );
  await Promise.all([
    kafka.createFleetTopics({ isPrefixed: false }),
    (async () => {
      const { url } = postgres;
      await applyMigrations({ url, schema: CATALOGUE_SCHEMA, schemaDir: CATALOGUE_SCHEMA_DIR });
      await applyMigrations({ url, schema: KEYS_SCHEMA, schemaDir: KEYS_SCHEMA_DIR });
      await applyMigrations({ url, schema: USAGE_SCHEMA, schemaDir: USAGE_SCHEMA_DIR });
    })(),
  ]);
  return { databaseUrl: postgres.url, redisUrl: redis.url, kafka, simulatorUrl: simulator.url, folder };
}

function sharedEnvironment(
  { databaseUrl, redisUrl, kafka, simulatorUrl, folder }: Servers,
  urls: Record<FleetApp, string>,
  fleetToken: string,
): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    DRAIN_GRACE_MS: '10000',
    LOG_LEVEL: 'info',
    FLEET_TOKEN: fleetToken,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    // On a machine that stands still Redis is late, not away: what is to be shown is decided by it.
    REDIS_COMMAND_TIMEOUT_MS: '5000',
    KAFKA_BROKERS: kafka.brokers.join(','),
    ...Object.fromEntries(FLEET_APPS.map((app) => [`${app.toUpperCase()}_URL`, urls[app]])),
    KEYS_PEPPER: Buffer.alloc(32, 1).toString('base64'),
    KEYS_KEK: Buffer.alloc(32, 2).toString('base64'),
    JOURNAL_DIR: join(folder, 'journal'),
    SIMULATED_PROVIDER: 'true',
    SIMULATED_API_KEY: 'built-in',
    SIMULATED_BASE_URL: `${simulatorUrl}/v1`,
    SIMULATED_MESSAGES_BASE_URL: simulatorUrl,
  };
}

async function firstLogin(keys: Program | undefined): Promise<Gateway['admin']> {
  const line = await eventually(() => /^(\{"first_login":.*\})$/m.exec(keys?.output() ?? '')?.[1]);
  return (JSON.parse(line) as { first_login: Gateway['admin'] }).first_login;
}

/**
 * As a person would: log in with the one-time password, create a key in the first organization, and look whether the
 * opening credit is there: the keys service brings it as soon as the ledger answers.
 */
async function firstKey(url: string, admin: Gateway['admin']): Promise<string> {
  const session = await logIn({ url, admin });
  const { key } = await session.createKey('e2e');
  await eventually(
    async () => {
      const answer = await fetch(`${url}/v1/balance`, { headers: { authorization: `Bearer ${key}` } });
      const { balance_usd: balance } = (await answer.json()) as { balance_usd?: string };
      return answer.ok && balance !== '0';
    },
    { timeoutMs: 60_000 },
  );
  return key;
}

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { root, start, type Started } from './processes.js';
import { processorSeconds, yieldBelow } from './proc.js';

/** The services that the hot path needs. */
const APPS = ['catalogue', 'keys', 'usage', 'edge'] as const;
const RUN_TS = ['--no-warnings', '--import', './tools/infra/run-ts.mjs'];

export type FleetApp = (typeof APPS)[number];

/** Of one start, until its first ready answer. */
interface StartFigures {
  seconds: number;
  /** Of the processor: what holds on a box that does other work as well. */
  processorSeconds: number;
}

export interface Fleet {
  /** Of the edge. */
  url: string;
  key: string;
  keyId: string;
  edgePid: number;
  /** Everything the edge has written to its log so far. */
  edgeLog(): string;
  databaseUrl: string;
  redisUrl: string;
  /** What keys of the bench are digested with before they are stored. */
  pepper: Buffer;
  /** Starts one more process of a service beside the running one. */
  startOnce(app: FleetApp): Promise<StartFigures>;
  stop(): Promise<void>;
}

/** Where the fleet's providers are. */
export interface FleetUpstreams {
  /** Of plain answers: simulator/chat. */
  plain: string;
  /** Of streams: openai/gpt-4o-mini. */
  streams: string;
}

/** Broker, database and ledger give way to the edge: in a real fleet they have machines of their own. */
const NICE = 10;

export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

async function untilReady(url: string, everyMs = 50): Promise<void> {
  const until = performance.now() + 60_000;
  while (performance.now() < until) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error(`${url} did not become ready`);
}

/** Of a management endpoint; on a busy box a fresh fleet answers 503 for some seconds. */
async function json<T>(url: string, init: RequestInit): Promise<T> {
  const headers = { 'content-type': 'application/json', ...init.headers };
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch(url, { ...init, headers });
    if (answer.ok) return (await answer.json()) as T;
    const text = await answer.text();
    if (answer.status !== 503 || attempt === 20) throw new Error(`${url}: ${answer.status} ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** A key of the first organization. Its limits are raised past every ceiling, or the load would measure refusals. */
async function benchKey(
  url: string,
  databaseUrl: string,
  keys: Started,
): Promise<{ key: string; keyId: string }> {
  const line = /^(\{"first_login":.*\})$/m.exec(keys.output());
  if (!line) throw new Error('the keys service announced no first login');
  const { first_login: admin } = JSON.parse(line[1]) as { first_login: { email: string; password: string } };
  const { token } = await json<{ token: string }>(`${url}/auth/login`, {
    method: 'POST',
    body: JSON.stringify(admin),
  });
  const headers = { authorization: `Bearer ${token}` };
  const me = await json<{ memberships: { org_id: string }[] }>(`${url}/auth/me`, { headers });
  const body = { label: 'bench', org_id: me.memberships[0].org_id, spend_cap_usd: '1000000' };
  const created = await json<{ key: string; id: string }>(`${url}/v1/keys`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  const raise = 'update keys.api_key set rpm_limit = 2000000000, rpd_limit = 2000000000 where id = $1';
  const { rowCount } = await database.query(raise, [created.id]);
  await database.end();
  if (rowCount !== 1) throw new Error('the limits of the key could not be raised');
  return { key: created.key, keyId: created.id };
}

/** Kafka with its topics, Redis and PostgreSQL of this run alone. */
async function startServers(running: Started[]): Promise<Record<string, string>> {
  const infra = await start({
    args: [...RUN_TS, 'tools/infra/src/cli.ts', 'up'],
    readyWhen: /^(\{.*KAFKA_BROKERS.*\})$/m,
  });
  running.push(infra);
  const servers = JSON.parse(infra.ready[1]) as Record<string, string>;
  execFileSync(process.execPath, ['dist/tools/infra/src/kafka-topics-main.js', '--replication', '1'], {
    cwd: root,
    env: { ...process.env, ...servers },
    stdio: 'ignore',
  });
  yieldBelow(infra.pid, /java|postgres/, NICE);
  return servers;
}

/** The fleet on real Kafka, Redis and PostgreSQL of its own, before the upstreams. */
export async function startFleet(upstreams: FleetUpstreams, edgeArgs: string[] = []): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-fleet-'));
  const running: Started[] = [];
  const stop = async (): Promise<void> => {
    for (const program of running.splice(0).reverse()) await program.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const servers = await startServers(running);
    const ports = await freePorts(APPS.length);
    const urls = Object.fromEntries(APPS.map((app, at) => [app, `http://127.0.0.1:${ports[at]}`])) as Record<
      FleetApp,
      string
    >;
    const pepper = randomBytes(32);
    const env = { ...servers, ...environment({ urls, upstreams, folder, pepper }) };
    const launch = async (app: FleetApp): Promise<Started> => {
      const program = await start({
        args: [...(app === 'edge' ? edgeArgs : []), `dist/apps/${app}/src/main.js`],
        env: { ...env, PORT: new URL(urls[app]).port },
        readyWhen: /"msg":"listening"/,
        nice: app === 'edge' ? 0 : NICE,
      });
      running.push(program);
      return program;
    };
    await launch('usage');
    await launch('catalogue');
    const keys = await launch('keys');
    const edge = await launch('edge');
    await Promise.all(Object.values(urls).map(untilReady));
    const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = servers;
    const key = await benchKey(urls.edge, databaseUrl, keys);
    const startOnce = (app: FleetApp): Promise<StartFigures> => startBeside(app, env, folder);
    const edgeLog = (): string => edge.output();
    return {
      url: urls.edge,
      ...key,
      edgePid: edge.pid,
      edgeLog,
      databaseUrl,
      redisUrl,
      pepper,
      startOnce,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startBeside(
  app: FleetApp,
  env: Record<string, string>,
  folder: string,
): Promise<StartFigures> {
  const [port] = await freePorts(1);
  const own = { PORT: String(port), JOURNAL_DIR: join(folder, `journal-${port}`) };
  const startedMs = performance.now();
  const program = await start({
    args: [`dist/apps/${app}/src/main.js`],
    env: { ...env, ...own },
    readyWhen: /"msg":"listening"/,
  });
  try {
    await untilReady(`http://127.0.0.1:${port}`, 5);
    const seconds = (performance.now() - startedMs) / 1_000;
    return { seconds, processorSeconds: processorSeconds(program.pid) };
  } finally {
    await program.stop();
  }
}

interface FleetParts {
  urls: Record<string, string>;
  upstreams: FleetUpstreams;
  folder: string;
  pepper: Buffer;
}

function environment({ urls, upstreams, folder, pepper }: FleetParts): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
    DRAIN_GRACE_MS: '5000',
    FLEET_TOKEN: randomBytes(32).toString('base64url'),
    ...Object.fromEntries(Object.entries(urls).map(([app, url]) => [`${app.toUpperCase()}_URL`, url])),
    KEYS_MIGRATE_AT_START: 'true',
    USAGE_MIGRATE_AT_START: 'true',
    CATALOGUE_MIGRATE_AT_START: 'true',
    KEYS_OPENING_CREDIT_USD: '1000000',
    KEYS_PEPPER: pepper.toString('base64'),
    KEYS_KEK: randomBytes(32).toString('base64'),
    JOURNAL_DIR: join(folder, 'journal'),
    SIMULATED_PROVIDER: 'true',
    SIMULATED_API_KEY: 'bench',
    SIMULATED_BASE_URL: `${upstreams.plain}/v1`,
    SIMULATED_MESSAGES_BASE_URL: upstreams.plain,
    OPENAI_API_KEY: 'bench',
    OPENAI_BASE_URL: `${upstreams.streams}/v1`,
  };
}

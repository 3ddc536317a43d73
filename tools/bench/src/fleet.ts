import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { root, start, type Started } from './processes.js';

/** The services that the hot path needs; broker, ledger and catalogue give way to the edge. */
const APPS = ['catalogue', 'keys', 'usage', 'edge'] as const;
const RUN_TS = ['--no-warnings', '--import', './tools/infra/run-ts.mjs'];

export interface Fleet {
  url: string;
  key: string;
  edgePid: number;
  stop(): Promise<void>;
}

async function freePorts(count: number): Promise<number[]> {
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

async function untilReady(url: string): Promise<void> {
  const until = performance.now() + 60_000;
  while (performance.now() < until) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${url} did not become ready`);
}

async function json<T>(url: string, init: RequestInit): Promise<T> {
  const answer = await fetch(url, {
    ...init,
    headers: { 'content-type': 'application/json', ...init.headers },
  });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

/** A key of the first organization. Its limits are raised past every ceiling, or the load would measure refusals. */
async function benchKey(url: string, databaseUrl: string, keys: Started): Promise<string> {
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
  return created.key;
}

/** The fleet on real Kafka, Redis and PostgreSQL of its own, before an upstream. */
export async function startFleet(upstreamUrl: string): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-fleet-'));
  const running: Started[] = [];
  const stop = async (): Promise<void> => {
    for (const program of running.splice(0).reverse()) await program.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const infra = await start({
      args: [...RUN_TS, 'tools/infra/src/cli.ts', 'up'],
      readyWhen: /^(\{.*KAFKA_BROKERS.*\})$/m,
    });
    running.push(infra);
    const servers = JSON.parse(infra.ready[1]) as Record<string, string>;
    execFileSync(process.execPath, [...RUN_TS, 'tools/infra/src/kafka-topics.ts', '--replication', '1'], {
      cwd: root,
      env: { ...process.env, ...servers },
      stdio: 'ignore',
    });
    const ports = await freePorts(APPS.length);
    const urls = Object.fromEntries(APPS.map((app, at) => [app, `http://127.0.0.1:${ports[at]}`])) as Record<
      (typeof APPS)[number],
      string
    >;
    const fleetToken = randomBytes(32).toString('base64url');
    const env = { ...servers, ...environment(urls, fleetToken, upstreamUrl, folder) };
    const launch = async (app: (typeof APPS)[number]): Promise<Started> => {
      const port = new URL(urls[app]).port;
      const program = await start({
        args: [`dist/apps/${app}/src/main.js`],
        env: { ...env, PORT: port },
        readyWhen: /"msg":"listening"/,
        nice: app === 'edge' ? 0 : 10,
      });
      running.push(program);
      return program;
    };
    await launch('usage');
    await launch('catalogue');
    const keys = await launch('keys');
    const edge = await launch('edge');
    await Promise.all(Object.values(urls).map(untilReady));
    const key = await benchKey(urls.edge, servers.DATABASE_URL, keys);
    return { url: urls.edge, key, edgePid: edge.pid, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function environment(
  urls: Record<string, string>,
  fleetToken: string,
  upstreamUrl: string,
  folder: string,
): Record<string, string> {
  return {
    HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
    DRAIN_GRACE_MS: '5000',
    FLEET_TOKEN: fleetToken,
    ...Object.fromEntries(Object.entries(urls).map(([app, url]) => [`${app.toUpperCase()}_URL`, url])),
    KEYS_MIGRATE_AT_START: 'true',
    USAGE_MIGRATE_AT_START: 'true',
    CATALOGUE_MIGRATE_AT_START: 'true',
    KEYS_OPENING_CREDIT_USD: '1000000',
    KEYS_PEPPER: randomBytes(32).toString('base64'),
    KEYS_KEK: randomBytes(32).toString('base64'),
    JOURNAL_DIR: join(folder, 'journal'),
    SIMULATED_PROVIDER: 'true',
    SIMULATED_API_KEY: 'bench',
    SIMULATED_BASE_URL: `${upstreamUrl}/v1`,
    SIMULATED_MESSAGES_BASE_URL: upstreamUrl,
  };
}

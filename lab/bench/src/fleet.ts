import { randomBytes } from 'node:crypto';
import {
  eventually,
  startFleet as startServices,
  startGuard,
  type Fleet as Services,
  type FleetApp,
} from '@gateway/testing';
import { Client } from 'pg';
import { processorSeconds, yieldBelow } from './proc.js';
import { JAVA_OPTIONS } from './processes.js';

/** The services that the hot path needs. */
const APPS = ['catalogue', 'keys', 'usage', 'edge'] as const;

/** Figures of one start, until its first ready answer. */
interface StartFigures {
  seconds: number;
  /** Seconds of the processor, which hold on a machine that does other work as well. */
  processorSeconds: number;
}

export interface Fleet {
  /** Address of the edge. */
  url: string;
  key: string;
  keyId: string;
  edgePid: number;
  /** Everything the edge has written to its log so far. */
  edgeLog(): string;
  databaseUrl: string;
  redisUrl: string;
  /** Pepper with which keys of the bench are digested before they are stored. */
  pepper: Buffer;
  /** Starts one more process of a service beside the running one. */
  startOnce(app: FleetApp): Promise<StartFigures>;
  stop(): Promise<void>;
}

/** Addresses of the fleet's providers. */
export interface FleetUpstreams {
  /** Address of plain answers: simulator/chat. */
  plain: string;
  /** Address of streams: openai/gpt-4o-mini. */
  streams: string;
}

/** Broker, database and ledger give way to the edge: in a real fleet they have machines of their own. */
const NICE = 10;

/** Calls a management endpoint; on a busy machine a fresh fleet answers 503 for some seconds. */
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
export async function benchKey(
  url: string,
  databaseUrl: string,
  admin: object,
): Promise<{ key: string; keyId: string }> {
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
  // The keys service brings the opening credit once the ledger answers; until then every answer is a 402.
  const asKey = { headers: { authorization: `Bearer ${created.key}` } };
  await eventually(
    async () => (await json<{ balance_usd: string }>(`${url}/v1/balance`, asKey)).balance_usd !== '0',
    { timeoutMs: 60_000 },
  );
  return { key: created.key, keyId: created.id };
}

/** The fleet on real Kafka, Redis and PostgreSQL of its own, before the upstreams. */
export async function startFleet(upstreams: FleetUpstreams, edgeArgs: string[] = []): Promise<Fleet> {
  process.env['_JAVA_OPTIONS'] = JAVA_OPTIONS;
  const guard = startGuard();
  const pepper = randomBytes(32);
  const services = await startServices({
    apps: APPS,
    hasOwnServers: true,
    upstream: upstreams.plain,
    // Without source maps, as every figure that was measured before.
    nodeArgs: { catalogue: [], keys: [], usage: [], edge: edgeArgs },
    env: { all: environment(upstreams, pepper) },
  }).catch(async (failure: unknown) => {
    await guard.end();
    throw failure;
  });
  const stop = async (): Promise<void> => {
    await services.stop();
    await guard.end();
  };
  try {
    if (guard.pid !== null) yieldBelow(guard.pid, /java|postgres/, NICE);
    for (const { app, pid } of services.processes.values())
      if (app !== 'edge' && pid !== null) yieldBelow(pid, /./, NICE);
    const { databaseUrl, redis } = services;
    const edge = services.process('edge');
    const { url } = edge;
    return {
      ...{ url, databaseUrl, pepper, stop },
      ...(await benchKey(url, databaseUrl, await services.firstLogin())),
      edgePid: edge.pid ?? 0,
      edgeLog: () => edge.output(),
      redisUrl: 'url' in redis ? redis.url : '',
      startOnce: (app) => startBeside(services, app),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startBeside(services: Services, app: FleetApp): Promise<StartFigures> {
  const startedMs = performance.now();
  const replica = await services.startReplica(app);
  try {
    const seconds = (performance.now() - startedMs) / 1_000;
    return { seconds, processorSeconds: processorSeconds(replica.pid ?? 0) };
  } finally {
    await replica.end();
  }
}

function environment(upstreams: FleetUpstreams, pepper: Buffer): Record<string, string> {
  return {
    DRAIN_ACCEPT_MS: '0',
    DRAIN_GRACE_MS: '5000',
    KEYS_OPENING_CREDIT_USD: '1000000',
    KEYS_PEPPER: pepper.toString('base64'),
    OPENAI_API_KEY: 'bench',
    OPENAI_BASE_URL: `${upstreams.streams}/v1`,
  };
}

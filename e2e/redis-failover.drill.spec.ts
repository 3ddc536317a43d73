import { eventually, securedRedis, type SecuredRedis, type ServiceProcess } from '@gateway/testing';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { startLoad } from './harness/callers.js';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { findingsOf } from './harness/reconcile.js';
import { pico } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

/** Far above what anything here takes; a test that reaches it hangs. */
const HANG_MS = 900_000;
/** An edge's log line. */
const FAILED_OVER = 'the limit store lost what it knew';

function timesFailedOver(edge: ServiceProcess): number {
  return edge.output().split(FAILED_OVER).length - 1;
}

interface Event {
  request_id: string;
  account_id: string;
  cost: string | null;
}

describe.each([
  [
    'a master that a sentinel names',
    (redis: SecuredRedis) => ({
      env: { REDIS_SENTINELS: redis.sentinel, REDIS_SENTINEL_NAME: 'mymaster' },
      nodes: [redis.server],
    }),
  ],
  [
    'a master of a cluster',
    (redis: SecuredRedis) => ({
      env: { REDIS_CLUSTER_NODES: redis.cluster.join(',') },
      nodes: redis.cluster,
    }),
  ],
])('a fleet of two edges on %s, by TLS and a password', (_name, placed) => {
  let redis: SecuredRedis;
  let fleet: Fleet;
  let person: PersonSession;
  let database: Client;
  let redisEnv: Record<string, string>;

  beforeAll(async () => {
    redis = await securedRedis();
    redisEnv = {
      ...{ REDIS_URL: '', REDIS_TLS: 'true', REDIS_TLS_CA: redis.ca, REDIS_PASSWORD: redis.password },
      ...placed(redis).env,
      ...('REDIS_SENTINELS' in placed(redis).env ? { REDIS_SENTINEL_PASSWORD: redis.sentinelPassword } : {}),
    };
    fleet = await startFleet({ edges: 2, env: { all: { EDGE_REPLICAS: '2', ...redisEnv } } });
    person = await logIn(fleet);
    database = new Client({ connectionString: fleet.databaseUrl });
    await database.connect();
  }, START_MS);
  afterAll(async () => {
    await database?.end();
    await fleet?.stop();
    await redis?.drop();
  }, START_MS);

  async function eventsOf(keyId: string): Promise<Event[]> {
    const text = 'select request_id, account_id, cost::text from usage.usage_event where key_id = $1';
    return (await database.query<Event>(text, [keyId])).rows;
  }

  /** Process of the server that holds the account, found as an operator would; null where it has no replica yet. */
  async function masterOf(accountId: string): Promise<number | null> {
    for (const node of placed(redis).nodes) {
      const [host, port] = node.split(':');
      const tls = { ca: redis.ca };
      const client = new Redis({
        host,
        port: Number(port),
        password: redis.password,
        tls,
        lazyConnect: true,
      });
      try {
        await client.connect();
        const info = await client.info();
        const isMaster = info.includes('role:master') && info.includes('connected_slaves:1');
        if (isMaster && (await client.keys(`*${accountId}*`)).length > 0)
          return Number(/process_id:(\d+)/.exec(info)?.[1]);
      } finally {
        client.disconnect();
      }
    }
    return null;
  }

  it(
    'kill -9 of it under traffic: 503 that may be sent again and nothing else, then all as before, and the books are right',
    async () => {
      const { id, key } = await person.createKey('failover', { rpm: 1_000, spend_cap_usd: '50' });
      const loads = fleet.edges.map(({ url }) => startLoad({ url, key }, { callers: 3, pauseMs: 300 }));
      const inferred = (): number => loads.reduce((sum, load) => sum + load.soFar().inferred.length, 0);
      await eventually(async () => inferred() > 50 && (await eventsOf(id)).length > 0, { timeoutMs: 60_000 });
      const [{ account_id: accountId }] = await eventsOf(id);
      const pid = await eventually(() => masterOf(accountId), { timeoutMs: 30_000 });
      const before = fleet.edges.map(timesFailedOver);
      process.kill(pid, 'SIGKILL');
      // Both edges have met its replica, which is another store with what the former had sent it.
      await eventually(() => fleet.edges.every((edge, at) => timesFailedOver(edge) > before[at]), {
        timeoutMs: 30_000,
      });
      const during = inferred();
      await eventually(() => inferred() > during + 100, { timeoutMs: 60_000 });
      const results = await Promise.all(loads.map((load) => load.stop()));
      expect(results.flatMap(({ failed }) => failed)).toEqual([]);

      const answered = results.flatMap(({ inferred: ids }) => ids);
      const known = async (): Promise<Set<string>> =>
        new Set((await eventsOf(id)).map(({ request_id: requestId }) => requestId));
      await eventually(async () => [await known()].every((ids) => answered.every((one) => ids.has(one))), {
        timeoutMs: 60_000,
      });
      const events = await eventsOf(id);
      expect((await known()).size).toBe(events.length);
      const cost = events.reduce((sum, event) => sum + pico(event.cost ?? '0'), 0n);
      const { rows } = await database.query<{ amount: string }>(
        "select amount::text from usage.spend_total where scope = 'key' and scope_id = $1",
        [id],
      );
      expect(pico(rows[0].amount)).toBe(cost);
      await eventually(async () => (await findingsOf(fleet, redisEnv)).length === 0, {
        timeoutMs: 120_000,
        intervalMs: 2_000,
      });
    },
    HANG_MS,
  );
});

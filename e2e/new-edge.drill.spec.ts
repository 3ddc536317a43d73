import { Redis } from 'ioredis';
import { eventually } from '@gateway/testing';
import { startFleet, type Fleet } from './harness/fleet.js';
import { metric } from './harness/load.js';
import { START_MS } from './harness/modes.js';
import { ask, askOnce } from './harness/requests.js';
import { logIn } from './harness/session.js';

/** Keys in use. */
const KEYS = Number(process.env.DRILL_KEYS ?? '200');
/** First requests at once. */
const AT_ONCE = 20;
const chat = { model: 'simulator/chat', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] };

describe('an edge that starts beside others', () => {
  let fleet: Fleet;
  let redis: Redis;
  const keys: string[] = [];
  beforeAll(async () => {
    fleet = await startFleet({ env: { all: { EDGE_REPLICAS: '3' } } });
    redis = new Redis(fleet.redisUrl);
    const person = await logIn(fleet);
    for (let n = 0; n < KEYS; n += 1) keys.push((await person.createKey(`key ${n}`, { rpm: 1_000 })).key);
  }, START_MS);
  afterAll(async () => {
    redis?.disconnect();
    await fleet?.stop();
  }, START_MS);

  /** The first request of each key at a new edge: milliseconds, statuses, and look-ups that callers waited for. */
  async function firstRequests(): Promise<{ ms: number[]; statuses: Set<number>; lookups: number }> {
    const edge = await fleet.startReplica('edge');
    const lookedUp = (): Promise<number> =>
      metric(edge.url, 'gateway_principal_cache_total', 'outcome="loaded"');
    const before = await lookedUp();
    const ms: number[] = [];
    const statuses = new Set<number>();
    const waiting = [...keys];
    const caller = async (): Promise<void> => {
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
        const startedAt = performance.now();
        const { status } = await askOnce({ url: edge.url, key }, 'POST', '/v1/chat/completions', {
          body: chat,
        });
        ms.push(performance.now() - startedAt);
        statuses.add(status);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, caller));
    const lookups = (await lookedUp()) - before;
    await edge.end();
    ms.sort((one, other) => one - other);
    return { ms, statuses, lookups };
  }

  it(
    'operations 9: has the keys of the last hour before it is ready, so that their first requests wait for no look-up',
    async () => {
      for (const key of keys)
        expect(
          (await ask({ url: fleet.url, key }, 'POST', '/v1/chat/completions', { body: chat })).status,
        ).toBe(200);
      await eventually(async () => (await redis.zcard('live_keys')) >= KEYS, { timeoutMs: 60_000 });
      const warm = await firstRequests();
      // As after a Redis that was emptied.
      await redis.del('live_keys');
      const cold = await firstRequests();
      for (const [name, { ms, lookups }] of Object.entries({ warm, cold })) {
        const at = (share: number): string => ms[Math.floor((ms.length - 1) * share)].toFixed(1);
        process.stdout.write(
          `new-edge: ${name}, first requests of ${KEYS} keys: p50 ${at(0.5)}, p99 ${at(0.99)} ms; ${lookups} looked up\n`,
        );
      }
      expect([warm.lookups, cold.lookups]).toEqual([0, KEYS]);
      expect(warm.statuses).toEqual(new Set([200]));
    },
    START_MS,
  );
});

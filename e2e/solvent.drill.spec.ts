import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@gateway/testing';
import { Redis } from 'ioredis';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { ask, pico, usd } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 16 };
const TEST_MS = 900_000;
/** Number of requests before something breaks, half of them through each edge. */
const SENT = 60;
/** Room that the cap leaves then, in requests: what one edge has sent, counted twice, would take it and more. */
const ROOM = 20;
/** Number of requests afterwards, over longer than a wrong count lasts until the ledger's next totals. */
const AFTERWARDS = 12;
const PACE_MS = 1_000;

/** The chaos load cannot show this: its keys have so much that no wrong count would refuse them. */
describe('a key with little room under its cap, over two edges', () => {
  let fleet: Fleet;
  let person: PersonSession;
  let redis: Redis;
  beforeAll(async () => {
    fleet = await startFleet({ edges: 2, env: { all: { EDGE_REPLICAS: '2' } } });
    person = await logIn(fleet);
    redis = new Redis(fleet.redisUrl);
  }, START_MS);
  afterAll(async () => {
    redis?.disconnect();
    await fleet?.stop();
  }, START_MS);

  /** The status that one of the edges answers in the end. */
  const send = async (key: string, n: number): Promise<number> => {
    const target = { url: fleet.edges[n % 2].url, key };
    return (await ask(target, 'POST', '/v1/chat/completions', { body: chat })).status;
  };
  const balance = async (key: string): Promise<bigint> =>
    pico((await ask({ url: fleet.edges[1].url, key }, 'GET', '/v1/balance')).body.balance_usd);
  const costOfOne = async (key: string): Promise<bigint> => {
    const body = { org_id: 'mine', limit: 200 };
    const one = await eventually(async () => {
      const { events } = (await ask(fleet, 'POST', '/v1/usage/events', { body, key })).body;
      return (events as { cost_usd: string }[]).find(({ cost_usd }) => cost_usd !== null);
    });
    return pico(one.cost_usd);
  };

  it.each([
    [
      'an edge is killed and comes back',
      async (): Promise<void> => {
        await fleet.edges[0].kill();
        await fleet.edges[0].restart();
      },
    ],
    [
      'Redis is emptied right after a burst',
      async (): Promise<void> => {
        // What was sent is posted in part.
        await pause(300);
        await redis.flushdb();
      },
    ],
  ] as const)(
    'LIM-31 B01 is served on, never 402, when %s, and the balance shows no request twice',
    async (what, disturb) => {
      const { id, key } = await person.createKey(what, { rpm: 1_000 });
      expect(await send(key, 0)).toBe(200);
      const cost = await costOfOne(key);
      const cap = { spend_cap_usd: usd(cost * BigInt(1 + SENT + ROOM)) };
      expect((await person.call('PATCH', `/v1/keys/${id}`, cap)).status).toBe(200);
      const before = await balance(key);
      for (let wave = 0; wave < SENT; wave += 6)
        expect(await Promise.all(Array.from({ length: 6 }, (_, n) => send(key, wave + n)))).toEqual(
          Array.from({ length: 6 }, () => 200),
        );
      await disturb();
      for (let n = 0; n < AFTERWARDS; n += 1) {
        expect([n, await send(key, n)]).toEqual([n, 200]);
        expect(before - (await balance(key))).toBeLessThanOrEqual(cost * BigInt(SENT + n + 1));
        await pause(PACE_MS);
      }
      const rejections = await ask({ url: fleet.url, key }, 'POST', '/v1/usage/rejections', {
        body: { org_id: 'mine' },
      });
      expect([rejections.status, rejections.text]).toEqual([200, expect.not.stringContaining('spend_limit')]);
      // The cap is there, and what was sent is in it.
      expect(
        (await person.call('PATCH', `/v1/keys/${id}`, { spend_cap_usd: usd(cost * BigInt(SENT)) })).status,
      ).toBe(200);
      expect([await send(key, 0), await send(key, 1)]).toEqual([402, 402]);
    },
    TEST_MS,
  );
});

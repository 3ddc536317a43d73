import { eventually, ownRedis, type OwnServer } from '@gateway/testing';
import { Redis } from 'ioredis';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { findingsOf } from './harness/reconcile.js';
import { ask, askOnce, pico, usd, type Body } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';
import { withoutRates } from './harness/without-rates.js';

const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 16 };
const TEST_MS = 900_000;
const SOON = { timeoutMs: 120_000, intervalMs: 500 };
/** Cap of a key, in requests. */
const CAP = 20;
/** Memory that is left when the ledger goes away: some hundreds of units fill it. */
const ROOM_BYTES = 100 * 1024;
const UNTIL_FULL_MAX = 4_000;
/** Requests of each key while it is full. */
const WHILE_FULL = 40;

describe('a fleet whose Redis fills up while the ledger is away', () => {
  let server: OwnServer;
  let redis: Redis;
  let fleet: Fleet;
  let person: PersonSession;

  beforeAll(async () => {
    server = await ownRedis();
    redis = new Redis(server.address);
    fleet = await startFleet({ edges: 2, env: { all: { REDIS_URL: server.address, EDGE_REPLICAS: '2' } } });
    person = await logIn(fleet);
  }, START_MS);
  afterAll(async () => {
    redis?.disconnect();
    await fleet?.stop();
    await server?.drop();
  }, START_MS);

  const statuses = new Set<number>();
  const send = async (key: string, n: number): Promise<number> => {
    const target = { url: fleet.edges[n % 2].url, key };
    const { status } = await askOnce(target, 'POST', '/v1/chat/completions', { body: chat });
    statuses.add(status);
    return status;
  };
  const used = async (): Promise<number> =>
    Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1]);
  /** Number of calls that Redis has refused for want of memory. */
  const refusals = async (): Promise<number> =>
    Number(/^errorstat_OOM:count=(\d+)/m.exec(await redis.info('errorstats'))?.[1] ?? 0);
  const eventsOf = async (key: string): Promise<Body[]> => {
    const body = { org_id: 'mine', limit: 200 };
    const { events } = (await ask(fleet, 'POST', '/v1/usage/events', { body, key })).body;
    return (events as Body[]).filter(({ status }) => status === 'success');
  };

  it(
    'OPS passes no cap, answers 503 where it cannot decide, and is itself again once the ledger posts',
    async () => {
      const { id, key } = await person.createKey('capped');
      await withoutRates(fleet, id);
      expect(await eventually(async () => (await send(key, 0)) === 200, SOON)).toBe(true);
      const [{ cost_usd }] = await eventually(async () => {
        const events = await eventsOf(key);
        return events.length === 1 ? events : null;
      }, SOON);
      const spend_cap_usd = usd(pico(cost_usd) * BigInt(CAP));
      expect((await person.call('PATCH', `/v1/keys/${id}`, { spend_cap_usd })).status).toBe(200);
      // Both edges know every key, so that nothing has to be asked of the ledger.
      const { id: otherId, key: other } = await person.createKey('other');
      await withoutRates(fleet, otherId);
      for (const n of [0, 1])
        for (const one of [key, other]) await eventually(async () => (await send(one, n)) === 200, SOON);
      let served = 3;

      await fleet.process('usage').end();
      await redis.config('SET', 'maxmemory', String((await used()) + ROOM_BYTES));
      for (let n = 0; n < UNTIL_FULL_MAX && (await refusals()) === 0; n += 1) await send(other, n);
      expect(await refusals()).toBeGreaterThan(0);
      for (let n = 0; n < WHILE_FULL; n += 1) {
        if ((await send(key, n)) === 200) served += 1;
        await send(other, n);
      }
      // Admitted alone, or refused for the moment: nobody is told of a limit that they have not reached.
      expect([...statuses].filter((status) => ![200, 402, 503].includes(status))).toEqual([]);
      expect(served).toBeLessThanOrEqual(CAP);

      // Nobody gives Redis more memory: what the ledger posts makes the room.
      await fleet.process('usage').restart();
      await eventually(async () => {
        const before = await refusals();
        const answers = [await send(other, 0), await send(other, 1)];
        return answers.every((status) => status === 200) && (await refusals()) === before;
      }, SOON);
      await eventually(async () => (await eventsOf(key)).length === served, SOON);
      await eventually(async () => {
        if ((await send(key, served)) === 200) served += 1;
        return (await send(key, served)) === 402;
      }, SOON);
      expect(served).toBeLessThanOrEqual(CAP + 1);
      const isRight = async (): Promise<boolean> =>
        (await findingsOf(fleet, { REDIS_URL: server.address })).length === 0;
      await eventually(isRight, SOON);
    },
    TEST_MS,
  );
});

import { eventually } from '@gateway/testing';
import { Redis } from 'ioredis';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { askOnce, type Answered } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };

describe('two edges whose Redis is emptied', () => {
  let fleet: Fleet;
  let person: PersonSession;
  let redis: Redis;

  beforeAll(async () => {
    fleet = await startFleet({ edges: 2, env: { edge: { EDGE_REPLICAS: '2' } } });
    person = await logIn(fleet);
    redis = new Redis(fleet.redisUrl);
    // Both have the catalogue, and every later refusal is one.
    for (const edge of edges()) await eventually(async () => (await send(edge, fleet.key)).status === 200);
  }, START_MS);
  afterAll(async () => {
    redis?.disconnect();
    await fleet?.stop();
  }, START_MS);

  const edges = (): string[] => fleet.edges.map(({ url }) => url);
  const sendOnce = (url: string, key: string): Promise<Answered> =>
    askOnce({ url, key }, 'POST', '/v1/chat/completions', { body: chat });
  /** A machine that is too busy may answer 503, which decides nothing: a caller waits and sends such a request again. */
  const send = (url: string, key: string): Promise<Answered> =>
    eventually(
      async () => {
        const answer = await sendOnce(url, key);
        return answer.status === 503 ? undefined : answer;
      },
      { intervalMs: 100 },
    );
  /** Returns both edges' answers to the same request, as `status code`. */
  const both = async (key: string): Promise<string[]> => {
    const answers = await Promise.all(edges().map((url) => send(url, key)));
    return answers.map((answer) => [answer.status, answer.body.error?.code].filter(Boolean).join(' '));
  };

  it('an emptied Redis never reads as zero spend: caps hold on both', async () => {
    const { key: posted } = await person.createKey('capped', { spend_cap_usd: '0.000001' });
    expect((await send(fleet.url, posted)).status).toBe(200);
    expect(await both(posted)).toEqual(['402 spend_limit_exceeded', '402 spend_limit_exceeded']);
    await eventually(
      async () =>
        (await askOnce({ url: fleet.url, key: posted }, 'POST', '/v1/usage', { body: { org_id: 'mine' } }))
          .body.total_requests === 1,
    );
    for (let n = 0; n < 5; n += 1) {
      await redis.flushdb();
      expect(await both(posted)).toEqual(['402 spend_limit_exceeded', '402 spend_limit_exceeded']);
    }
  });

  it('nobody gets a false 401, 402, 403 or 404 while Redis is emptied under load', async () => {
    const keys = await Promise.all(
      Array.from({ length: 6 }, (_, n) => person.createKey(`load ${n}`, { spend_cap_usd: '1', rpm: 1000 })),
    );
    const deleted = await person.createKey('deleted under load');
    expect(await both(deleted.key)).toEqual(['200', '200']);
    expect((await person.call('DELETE', `/v1/keys/${deleted.id}`)).status).toBe(200);
    const statuses: number[] = [];
    let isOver = false;
    const load = keys.map(async ({ key }, n) => {
      while (!isOver) statuses.push((await sendOnce(edges()[n % 2], key)).status);
    });
    for (let n = 0; n < 10; n += 1) {
      const before = statuses.length;
      await redis.flushdb();
      expect(await both(deleted.key)).toEqual(['403 forbidden', '403 forbidden']);
      await eventually(() => statuses.length > before + 20);
    }
    isOver = true;
    await Promise.all(load);
    const decided = statuses.filter((status) => status !== 503);
    expect([...new Set(decided)]).toEqual([200]);
    expect(decided.length).toBeGreaterThan(100);
  });
});

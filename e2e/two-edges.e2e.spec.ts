import { eventually } from '@gateway/testing';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { askOnce, type Answered, type Body } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };
const claude = { ...chat, model: 'simulator/claude', max_tokens: 64 };

describe('two edges of one fleet', () => {
  let fleet: Fleet;
  let person: PersonSession;

  beforeAll(async () => {
    const env = { EDGE_REPLICAS: '2' };
    fleet = await startFleet({ edges: 2, env: { edge: env } });
    person = await logIn(fleet);
    // Both have the catalogue, and every later refusal is one.
    for (const edge of edges()) {
      await eventually(async () => (await send(edge, fleet.key)).status === 200);
    }
  }, START_MS);
  afterAll(async () => void (await fleet?.stop()), START_MS);

  const edges = (): string[] => fleet.edges.map(({ url }) => url);
  let unavailable = 0;
  const sendOnce = async (url: string, key: string, body: Body): Promise<Answered> => {
    const path = body === claude ? '/v1/messages' : '/v1/chat/completions';
    const answer = await askOnce({ url, key }, 'POST', path, { body });
    if (answer.status === 503) unavailable += 1;
    return answer;
  };
  /**
   * A machine that is too busy may answer 503, which decides nothing: a caller waits and sends such a request again. Each of them
   * finds the breaker of Redis closed again, however many stood in the burst that opened it.
   */
  const send = (url: string, key: string, body: Body = chat): Promise<Answered> =>
    eventually(
      async () => {
        const answer = await sendOnce(url, key, body);
        return answer.status === 503 ? undefined : answer;
      },
      { intervalMs: 100 },
    );
  /**
   * 200 requests at once where money is left for one. A request that was answered 503 may hold what it reserved until that is
   * returned, so only a burst without one proves that somebody passes.
   */
  async function atMostOnePasses(key: string): Promise<void> {
    const before = unavailable;
    const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => send(edges()[n % 2], key)));
    const count = (wanted: number): number => answers.filter(({ status }) => status === wanted).length;
    expect(count(200)).toBeLessThanOrEqual(1);
    expect(count(200) + count(402)).toBe(200);
    if (unavailable === before) expect(count(200)).toBe(1);
  }
  /** Returns both edges' answers to the same request, as `status code`. */
  const both = async (key: string, body: Body = chat): Promise<string[]> => {
    const answers = await Promise.all(edges().map((url) => send(url, key, body)));
    return answers.map((answer) => [answer.status, answer.body.error?.code].filter(Boolean).join(' '));
  };
  const change = async (id: string, body: Body): Promise<void> => {
    expect((await person.call('PATCH', `/v1/keys/${id}`, body)).status).toBe(200);
  };
  /**
   * 64 requests at once where one is left. A round with a 503 proves only that there was not more than one, and one that a new
   * minute began in proves nothing: another key has its turn.
   */
  async function oneOf64(limit: Body): Promise<Answered[]> {
    for (let round = 0; round < 10; round += 1) {
      const { key } = await person.createKey('one is left', limit);
      await untilEarlyInMinute();
      const minute = minuteNow();
      const first: number[] = [];
      for (const n of [0, 1, 2]) first.push((await sendOnce(edges()[n % 2], key, chat)).status);
      if (first.includes(503)) continue;
      expect(first).toEqual([200, 200, 200]);
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, n) => sendOnce(edges()[n % 2], key, chat)),
      );
      if (minuteNow() !== minute) continue;
      const count = (wanted: number): number => answers.filter(({ status }) => status === wanted).length;
      expect(count(200)).toBeLessThanOrEqual(1);
      expect(count(200) + count(429) + count(503)).toBe(64);
      if (count(503) > 0) continue;
      expect(count(200)).toBe(1);
      return answers.filter(({ status }) => status === 429);
    }
    throw new Error('The machine is too busy: every round had a 503 or a new minute.');
  }

  const minuteNow = (): number => Math.floor(Date.now() / 60_000);
  /** The window is the clock's minute: what belongs together has to lie in one. */
  async function untilEarlyInMinute(): Promise<void> {
    const isEarly = (): boolean => new Date(Date.now()).getUTCSeconds() < 50;
    await eventually(isEarly, { intervalMs: 100 });
  }

  it('LIM-02 64 requests at once at one remaining request of the day admit exactly one', async () => {
    const refused = await oneOf64({ rpd: 4 });
    expect(new Set(refused.map(({ body }) => body.error.code))).toEqual(new Set(['rate_limit_exceeded']));
  });

  it('ERR-43 LIM-01 64 requests at once at one remaining request of the minute admit exactly one', async () => {
    for (const { headers, body } of await oneOf64({ rpm: 4 })) {
      expect(body.error.code).toBe('rate_limit_exceeded');
      const wait = Number(headers.get('retry-after'));
      expect(wait).toBeGreaterThanOrEqual(1);
      expect(wait).toBeLessThanOrEqual(65);
    }
  });

  it('R01 LIM-01 200 requests at once over both edges admit exactly the limit', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { key } = await person.createKey('exactly forty', { rpm: 40 });
      await untilEarlyInMinute();
      const minute = minuteNow();
      const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => send(edges()[n % 2], key)));
      if (minuteNow() !== minute) continue;
      const count = (wanted: number): number => answers.filter(({ status }) => status === wanted).length;
      expect([count(200), count(429)]).toEqual([40, 160]);
      return;
    }
    throw new Error('The machine is too busy: a new minute began in every round.');
  });

  it('B13 LIM-31 200 requests at once at a cap: at most one passes it', async () => {
    const { key } = await person.createKey('at a cap', { spend_cap_usd: '0.000001', rpm: 1000 });
    await atMostOnePasses(key);
  });

  it('200 requests at once at one unit left of a budget: at most one passes it', async () => {
    const { id, key } = await person.createKey('under a budget', { rpm: 1000 });
    const of = { org_id: person.orgId, scope: 'key', scope_id: id };
    const budget = { ...of, name: 'One unit', amount_usd: '0.000001', period: 'quarter' };
    expect((await person.call('POST', '/v1/budgets', budget)).status).toBe(201);
    await atMostOnePasses(key);
    for (const url of edges()) expect((await send(url, key)).status).toBe(402);
  });

  it('B13 LIM-32 200 requests at once at a balance of one: at most one passes it', async () => {
    const { key } = await person.createKey('of a person', { org_id: undefined, rpm: 1000 });
    expect((await askOnce({ url: fleet.url, key }, 'GET', '/v1/balance')).body.balance_usd).toBe('0');
    expect((await send(fleet.url, key)).status).toBe(402);
    const me = (await (await person.call('GET', '/auth/me')).json()) as { user: { id: string } };
    const credit = { user_id: me.user.id, amount_usd: '0.000001', reason: 'one request' };
    expect((await person.call('POST', '/v1/admin/credits', credit)).status).toBe(201);
    await atMostOnePasses(key);
    for (const url of edges()) expect((await send(url, key)).status).toBe(402);
  });

  it('R07 AUTH-19 a deleted key is refused by the next request on both, 403 forbidden', async () => {
    const { id, key } = await person.createKey('deleted');
    expect(await both(key)).toEqual(['200', '200']);
    expect((await person.call('DELETE', `/v1/keys/${id}`)).status).toBe(200);
    expect(await both(key)).toEqual(['403 forbidden', '403 forbidden']);
    expect((await person.call('POST', `/v1/keys/${id}/reactivate`)).status).toBe(200);
    expect(await both(key)).toEqual(['200', '200']);
  });

  it('R07 a changed limit acts on the very next request on both', async () => {
    const { id, key } = await person.createKey('limits');
    expect(await both(key)).toEqual(['200', '200']);
    await change(id, { rpd: 2 });
    expect(await both(key)).toEqual(['429 rate_limit_exceeded', '429 rate_limit_exceeded']);
    await change(id, { rpd: 4 });
    expect(await both(key)).toEqual(['200', '200']);
    expect(await both(key)).toEqual(['429 rate_limit_exceeded', '429 rate_limit_exceeded']);
    await change(id, { rpd: null });
    expect(await both(key)).toEqual(['200', '200']);
    await change(id, { spend_cap_usd: '0.000000000001' });
    expect(await both(key)).toEqual(['402 spend_limit_exceeded', '402 spend_limit_exceeded']);
    await change(id, { spend_cap_usd: null });
    expect(await both(key)).toEqual(['200', '200']);
  });

  it('R07 ERR-19 a changed model list acts on the very next request on both', async () => {
    const { id, key } = await person.createKey('models');
    expect(await both(key)).toEqual(['200', '200']);
    await change(id, { blocked_models: ['simulator/chat'] });
    expect(await both(key)).toEqual(['403 model_excluded', '403 model_excluded']);
    await change(id, { blocked_models: null });
    expect(await both(key)).toEqual(['200', '200']);
    await change(id, { allowed_models: ['simulator/claude'] });
    expect(await both(key)).toEqual(['404 model_not_found', '404 model_not_found']);
    expect(await both(key, claude)).toEqual(['200', '200']);
    await change(id, { allowed_models: ['simulator/*'] });
    expect(await both(key)).toEqual(['200', '200']);
  });

  it('a new key works at once on both, also for eight requests together', async () => {
    for (let n = 0; n < 12; n += 1) {
      const { key } = await person.createKey(`new ${n}`);
      const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => send(edges()[n % 2], key)));
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    }
  });
});

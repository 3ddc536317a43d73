import { startUpstreamDouble, type ScriptedAnswer, type UpstreamDouble } from '@gateway/testing';
import { hello, startEdge, type EdgeUnderTest, type Json } from '../edge.fixture.js';
import { PoolSync } from './pool-sync.js';

const SERVED: ScriptedAnswer = {
  json: {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
  },
};
const refusedWith = (status: number, code: string, headers = {}): ScriptedAnswer => ({
  status,
  headers,
  json: { error: { message: 'no', type: code, code } },
});
const REVOKED = refusedWith(401, 'invalid_api_key');
const THROTTLED = refusedWith(429, 'rate_limit_exceeded', { 'retry-after': '30' });
const EMPTY = refusedWith(429, 'insufficient_quota');

let edge: EdgeUnderTest;
let upstream: UpstreamDouble;
/** Answers by bearer token; every other one is served. */
let answers: Record<string, ScriptedAnswer>;

beforeAll(async () => {
  upstream = await startUpstreamDouble(
    ({ headers }) => answers[String(headers.authorization).replace('Bearer ', '')] ?? SERVED,
  );
  edge = await startEdge({ upstreams: () => Promise.resolve({ openai: upstream.url }) });
  edge.serve('acme/gpt', { provider: 'openai', upstreamModel: 'gpt' });
});
afterAll(async () => {
  await edge?.close();
  await upstream?.close();
});
beforeEach(async () => {
  answers = {};
  edge.pool.isUnavailable = false;
  await pooled();
  upstream.seen.length = 0;
});

let made = 0;

/** Replaces the stored credentials by new ones with these keys, and lets the edge learn them. Returns their ids. */
async function pooled(...keys: string[]): Promise<string[]> {
  edge.pool.pooled.length = 0;
  const ids = keys.map((key) => {
    made += 1;
    edge.pool.add(`cred_${made}`, key, { provider: 'openai' });
    return `cred_${made}`;
  });
  await edge.app.app.get(PoolSync).sync();
  return ids;
}

const post = (more: Json = {}): Promise<Response> => edge.post(hello('acme/gpt', more));
const sent = (): string[] =>
  upstream.seen.map(({ headers }) => String(headers.authorization).replace('Bearer ', ''));

describe('a provider with several credentials of the platform', () => {
  it('is called with the environment’s alone while there is no other', async () => {
    expect((await post()).status).toBe(200);
    expect(sent()).toEqual(['sim-key-of-openai']);
  });

  it('is called with each of them, as soon as the edge has learnt it', async () => {
    await pooled('sk-a', 'sk-b');
    for (let n = 0; n < 60; n += 1) expect((await post()).status).toBe(200);
    expect([...new Set(sent())].sort()).toEqual(['sim-key-of-openai', 'sk-a', 'sk-b']);
    await pooled('sk-b');
    upstream.seen.length = 0;
    for (let n = 0; n < 20; n += 1) await post();
    expect(sent()).not.toContain('sk-a');
  });

  it('serves while one is left: revoked, throttled and empty ones are passed over, and it is no fallback', async () => {
    answers = { 'sim-key-of-openai': REVOKED, 'sk-a': THROTTLED, 'sk-b': EMPTY };
    const [, , good] = await pooled('sk-a', 'sk-b', 'sk-good');
    for (let n = 0; n < 30; n += 1) {
      const response = await post();
      const { usage } = (await response.json()) as { usage: Json };
      expect([response.status, usage.fallback_triggered]).toEqual([200, false]);
      const record = await edge.record(response);
      expect(record).toMatchObject({ routing_fallback: false });
      expect((record.attempts as Json[]).at(-1)).toMatchObject({
        ...{ credential_id: good, served: true, upstream_model: 'gpt' },
      });
    }
    const counts = ['sim-key-of-openai', 'sk-a', 'sk-b'].map(
      (key) => sent().filter((one) => one === key).length,
    );
    expect(counts.every((count) => count <= 1)).toBe(true);
    await edge.app.app.get(PoolSync).sync();
    const found = edge.pool.reports.flatMap(({ states }) => states.map(({ status }) => status));
    expect(found).toEqual(expect.arrayContaining(['cooling', 'out_of_quota', 'refused']));
  });

  it('503 with the earliest end where none is ready', async () => {
    answers = { 'sim-key-of-openai': THROTTLED, 'sk-a': THROTTLED };
    await pooled('sk-a');
    expect((await post()).status).toBe(429);
    const refused = await post();
    expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([503, 'true']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(25);
    expect(await refused.json()).toMatchObject({ error: { code: 'provider_not_available' } });
  });

  it('passes over one that is at its own limit, and 503 with the end of the minute where all are', async () => {
    const [first, second] = await pooled('sk-a', 'sk-b');
    edge.pool.add('cred_env_openai', '', { provider: 'openai', source: 'environment', isEnabled: false });
    edge.pool.pooled[0] = { ...edge.pool.pooled[0], rpmLimit: 2 };
    edge.pool.pooled[1] = { ...edge.pool.pooled[1], rpmLimit: 3 };
    await edge.app.app.get(PoolSync).sync();
    const served: unknown[] = [];
    for (let n = 0; n < 5; n += 1) {
      const response = await post();
      expect(response.status).toBe(200);
      const record = await edge.record(response);
      expect(record).toMatchObject({ routing_fallback: false, attempts: [{ served: true }] });
      served.push((record.attempts as Json[])[0].credential_id);
    }
    expect([first, second].map((id) => served.filter((one) => one === id).length)).toEqual([2, 3]);
    for (let n = 0; n < 2; n += 1) {
      const refused = await post();
      expect([refused.status, refused.headers.get('x-should-retry')]).toEqual([503, 'true']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect(await refused.json()).toMatchObject({ error: { code: 'provider_not_available' } });
    }
    expect(sent().sort()).toEqual(['sk-a', 'sk-a', 'sk-b', 'sk-b', 'sk-b']);
  });

  it('counts the tokens that were used, not those that were feared', async () => {
    await pooled('sk-a');
    edge.pool.add('cred_env_openai', '', { provider: 'openai', source: 'environment', isEnabled: false });
    // One answer has 20 tokens: the fourth request finds 60 counted.
    edge.pool.pooled[0] = { ...edge.pool.pooled[0], tpmLimit: 55 };
    await edge.app.app.get(PoolSync).sync();
    const statuses = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await post({ max_tokens: 30 })).status);
    expect(statuses).toEqual([200, 200, 200, 503]);
  });

  it('keeps requests with a cache key on one', async () => {
    await pooled('sk-a', 'sk-b', 'sk-c');
    for (let n = 0; n < 12; n += 1) await post({ prompt_cache_key: 'conversation 7' });
    expect(new Set(sent()).size).toBe(1);
  });

  it('goes on with what it knows while the keys service is away', async () => {
    await pooled('sk-a');
    edge.pool.isUnavailable = true;
    await expect(edge.app.app.get(PoolSync).sync()).rejects.toThrow();
    for (let n = 0; n < 20; n += 1) expect((await post()).status).toBe(200);
  });
});

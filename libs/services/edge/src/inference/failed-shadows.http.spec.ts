import type { Alias } from '@gateway/contracts';
import { eventually, startUpstreamDouble, type ScriptedAnswer, type UpstreamDouble } from '@gateway/testing';
import { hello, startEdge, testModel, type EdgeUnderTest, type Json } from '../edge.fixture.js';
import { PoolSync } from '../upstream/pool-sync.js';

const [FIRST, SECOND] = ['acme/first', 'acme/second'];
const ALIAS: Alias = {
  ...{ org_id: null, name: 'prod', targets: [{ model: FIRST, weight: 1 }] },
  shadow: { alias_id: 'alias_1', model: SECOND, sample_pct: 100 },
};
const SERVED: ScriptedAnswer = {
  json: {
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  },
};

const refusedWith = (status: number, code: string, headers = {}): ScriptedAnswer => ({
  status,
  headers,
  json: { error: { message: 'no', type: code, code } },
});

let first: UpstreamDouble;
let second: UpstreamDouble;
let edge: EdgeUnderTest;

beforeAll(async () => {
  [first, second] = await Promise.all([startUpstreamDouble(() => SERVED), startUpstreamDouble(() => SERVED)]);
});
beforeEach(async () => {
  edge = await startEdge({
    upstreams: () => Promise.resolve({ openai: first.url, together: second.url }),
  });
  edge.serveModels(
    testModel(FIRST, [{ provider: 'openai', upstreamModel: 'one', dialect: 'chat' }]),
    testModel(SECOND, [{ provider: 'together', upstreamModel: 'two', dialect: 'chat' }]),
  );
  edge.name(ALIAS);
  second.seen.length = 0;
  second.answer = () => SERVED;
});
afterEach(() => edge.close());
afterAll(() => Promise.all([first.close(), second.close()]));

/** Sends a request for the alias, and returns the record of its shadow. */
async function shadowed(): Promise<Json> {
  const answer = await edge.post(hello('prod'));
  await answer.text();
  expect(answer.status).toBe(200);
  const id = answer.headers.get('x-request-id');
  return eventually(() =>
    edge.shipped().find(({ shadow_of: of }) => (of as Json | undefined)?.request_id === id),
  );
}

/** Sends a caller's own request for the model of the shadow. */
async function called(): Promise<number> {
  return (await edge.post(hello(SECOND))).status;
}

async function states(): Promise<string[]> {
  await edge.app.app.get(PoolSync).sync();
  return edge.pool.reports.flatMap(({ states: found }) => found.map(({ id, status }) => `${id} ${status}`));
}

describe('a shadow that fails', () => {
  it('opens no breaker for callers, also of a route that has failed a caller', async () => {
    second.answer = () => ({ status: 500, json: { error: { message: 'broken' } } });
    expect(await called()).not.toBe(200);
    // Their own breaker opens: from then on none is sent.
    await eventually(async () => {
      const answer = await edge.post(hello('prod'));
      await answer.text();
      expect(answer.status).toBe(200);
      const figures = await (await fetch(`${edge.url}/metrics`)).text();
      return figures.includes('gateway_shadows_total{outcome="not_permitted"}');
    });
    second.answer = () => SERVED;
    expect(await called()).toBe(200);
  });

  it.each([
    ['429', refusedWith(429, 'rate_limit_exceeded', { 'retry-after': '30' })],
    ['a used-up quota', refusedWith(429, 'insufficient_quota')],
    ['403', refusedWith(403, 'permission_denied')],
  ])('by %s takes no credential from callers', async (_what, answer) => {
    edge.pool.add('cred_own', 'sk-own', { provider: 'together' });
    edge.pool.add('cred_env_together', '', {
      ...{ provider: 'together', source: 'environment', isEnabled: false },
    });
    await edge.app.app.get(PoolSync).sync();
    second.answer = () => answer;
    expect(await shadowed()).toMatchObject({ outcome: 'failed', attempts: [{ credential_id: 'cred_own' }] });
    expect(await states()).toEqual([]);
    second.answer = () => SERVED;
    expect(await called()).toBe(200);
  });

  it('by a revoked credential takes that out, so that no caller has to find it', async () => {
    edge.pool.add('cred_own', 'sk-own', { provider: 'together' });
    edge.pool.add('cred_env_together', '', {
      ...{ provider: 'together', source: 'environment', isEnabled: false },
    });
    await edge.app.app.get(PoolSync).sync();
    second.answer = () => refusedWith(401, 'invalid_api_key');
    expect(await shadowed()).toMatchObject({ outcome: 'failed' });
    expect(await states()).toEqual(['cred_own refused']);
    expect(await called()).toBe(503);
  });
});

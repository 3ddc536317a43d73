import type { CatalogueModel } from '@gateway/contracts';
import { hello, testModel, testPrincipal, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { ENGINES, started } from './scores.fixture.js';

const edge = tenantOf(started, 'web_search');

const RECORD = {
  supports_completions_api: false,
  output_modalities: ['search_results'],
};
/** USD for a thousand searches, in the order of the engines. */
const PRICES = ['8', '7', '5', '1', '6'];

function engines(id: string, ...names: string[]): CatalogueModel {
  const model = testModel(
    id,
    names.map((provider) => ({ provider, upstreamModel: 'search', dialect: `${provider}-search` })),
    RECORD,
  );
  const routes = model.routes.map((route) => ({
    ...route,
    price: { search_usd_per_1k: PRICES[ENGINES.indexOf(route.provider)] },
  }));
  return { ...model, routes };
}

describe('POST /v1/web/search', () => {
  beforeAll(async () => {
    edge.serveModels(
      engines('gateway/web-search', 'tavily', 'serper'),
      ...ENGINES.map((name) => engines(`${name}/search`, name)),
    );
  });
  beforeEach(() => edge.sim.reset());

  const search = (body: object, key = edge.key): Promise<Response> =>
    edge.post(body, { path: '/v1/web/search', key });

  it.each(ENGINES)('SRCH-01 SRCH-06 %s finds pages, and a search is billed at its price', async (name) => {
    const answer = await search({ model: `${name}/search`, query: 'red foxes', max_results: 2 });
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as Json & { results: Json[] };
    expect(body).toMatchObject({
      object: 'web.search',
      query: 'red foxes',
      usage: { searches: 1, results: 2, byok_used: false, fallback_triggered: false },
    });
    expect(body.id).toMatch(/^search_/);
    expect(body.results[0]).toMatchObject({
      title: 'Guide: red foxes',
      snippet: expect.stringContaining('Page 1'),
    });
    expect(JSON.stringify(body)).not.toMatch(/cost|credits/i);
    expect(await edge.record(answer)).toMatchObject({
      endpoint: '/v1/web/search',
      model: `${name}/search`,
      outcome: 'served',
      usage: { searches: 1, requests: 1, prompt_tokens: 0, completion_tokens: 0 },
      usage_estimated: false,
      cost_usd: `0.00${PRICES[ENGINES.indexOf(name)]}`,
    });
    const [seen] = edge.upstream();
    const key = { tavily: 'authorization', perplexity: 'authorization', brave: 'x-subscription-token' }[name];
    expect(seen.headers[key ?? 'x-api-key']).toContain(`sim-key-of-${name}`);
  });

  it('SRCH-01 without a model asks the engines behind the pin, the cheapest first', async () => {
    const answer = await search({ query: 'red foxes' });
    expect(await edge.record(answer)).toMatchObject({
      model: 'gateway/web-search',
      provider: 'serper',
      cost_usd: '0.001',
    });
  });

  it('SRCH-02 bills the engine that answered after a fallback to another one', async () => {
    edge.sim.script(['error=500'], '');
    const key = edge.addKey(testPrincipal('key_without_retries', { routingPolicy: { max_retries: 0 } }));
    const answer = await search({ query: 'red foxes' }, key);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ usage: { fallback_triggered: true } });
    expect(await edge.record(answer)).toMatchObject({
      provider: 'tavily',
      routing_fallback: true,
      cost_usd: '0.008',
    });
  });

  it('SRCH-06 names members that it does not know in X-Service-Ignored-Params', async () => {
    const answer = await search({ query: 'foxes', depth: 'deep', topic: null });
    expect([answer.status, answer.headers.get('x-service-ignored-params')]).toEqual([200, 'depth']);
  });

  it('SRCH-03 a search that fails is free', async () => {
    edge.sim.script([], 'error=503');
    const answer = await search({ model: 'exa/search', query: 'red foxes' });
    expect(answer.status).toBeGreaterThanOrEqual(500);
    expect(await edge.record(answer)).toMatchObject({ outcome: 'failed', cost_usd: null });
  });

  it.each(ENGINES)('SRCH-04 a search of %s that finds nothing is free', async (name) => {
    const answer = await search({ model: `${name}/search`, query: 'nothing' });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ results: [], usage: { searches: 0, results: 0 } });
    expect(await edge.record(answer)).toMatchObject({ outcome: 'served', cost_usd: '0' });
  });

  it('KEY-40 AUTH-33 a scoped key needs search:write: 403 forbidden without it, whatever else it may do', async () => {
    const scoped = (permission: 'inference:write' | 'search:write'): string =>
      edge.addKey(testPrincipal(`key_${permission}`, { permissions: [permission] }));
    const refused = await search({ query: 'red foxes' }, scoped('inference:write'));
    const { error } = (await refused.json()) as { error: { code: string; message: string } };
    expect([refused.status, error.code]).toEqual([403, 'forbidden']);
    expect(error.message).toContain('search:write');
    expect((await search({ query: 'red foxes' }, scoped('search:write'))).status).toBe(200);
  });

  it('SRCH-05 403 forbidden for a key whose allow-list omits the pin, and for a chat that searches the web', async () => {
    const access = [{ kind: 'key' as const, allowed: ['simulator/*'], blocked: null }];
    const key = edge.addKey(testPrincipal('key_without_search', { access }));
    const refused = await search({ query: 'red foxes' }, key);
    expect([refused.status, await codeOf(refused)]).toEqual([403, 'forbidden']);
    const chat = await edge.post(hello('simulator/chat', { web_search_options: {} }), { key });
    expect([chat.status, await codeOf(chat)]).toEqual([403, 'forbidden']);
    const claude = hello('simulator/claude', {
      tools: [{ type: 'web_search_20260318', name: 'web_search' }],
    });
    expect((await edge.post(claude, { path: '/v1/messages', key })).status).toBe(403);
    const responses = { model: 'simulator/chat', input: 'Hello', tools: [{ type: 'web_search' }] };
    expect((await edge.post(responses, { path: '/v1/responses', key })).status).toBe(403);
    const brought = { type: 'additional_tools', role: 'developer', tools: responses.tools };
    const later = { model: 'simulator/chat', input: [{ role: 'user', content: 'Hello' }, brought] };
    expect((await edge.post(later, { path: '/v1/responses', key })).status).toBe(403);
    expect((await edge.post(hello('simulator/chat'), { key })).status).toBe(200);
    expect(edge.upstream()).toHaveLength(1);
  });

  it('SRCH-05 403 model_excluded where a block-list names the pin', async () => {
    const access = [{ kind: 'key' as const, allowed: null, blocked: ['gateway/web-search'] }];
    const key = edge.addKey(testPrincipal('key_blocked', { access }));
    const refused = await search({ query: 'red foxes' }, key);
    expect([refused.status, await codeOf(refused)]).toEqual([403, 'model_excluded']);
  });

  it.each([
    [{}, 422],
    [{ query: '   ' }, 422],
    [{ query: [] }, 422],
    [{ query: ['a', 'b', 'c', 'd', 'e', 'f'] }, 422],
    [{ query: 'a', max_results: 21 }, 422],
    [{ query: 'a', include_domains: ['a.org OR site:b.org'] }, 422],
    [{ query: 'a', country: 'USA' }, 422],
    [{ query: 'a', start_date: '2026-02-01', end_date: '2026-01-01' }, 422],
    [{ query: 'a', recency: 'day', start_date: '2026-02-01' }, 422],
    [{ query: 'a', model: 'simulator/chat' }, 400],
    [{ query: ['a', 'b'], model: 'exa/search' }, 400],
    [{ query: 'a', model: 'acme/none' }, 404],
  ])('SRCH-06 refuses %j with %i', async (body, status) => {
    expect((await search(body)).status).toBe(status);
    expect(edge.upstream()).toHaveLength(0);
  });
});

async function codeOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { error: { code: string } }).error.code;
}

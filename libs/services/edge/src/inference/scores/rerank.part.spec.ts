import type { CatalogueModel, PriceRecord } from '@gateway/contracts';
import { testModel } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './scores.fixture.js';

const edge = tenantOf(started, 'rerank');

function reranker(id: string, provider: string, dialect: string, price: PriceRecord): CatalogueModel {
  const model = testModel(id, [{ provider, upstreamModel: 'sim-rerank', dialect }], {
    supports_completions_api: false,
    output_modalities: ['rerank'],
  });
  return { ...model, routes: model.routes.map((route) => ({ ...route, price })) };
}

const DOCUMENTS = ['A door', { text: 'A red fox' }, 'A red door and a fox'];

describe('POST /v1/rerank', () => {
  beforeAll(async () => {
    edge.serveModels(
      reranker('simulator/rerank', 'simulated', 'rerank', { prompt_usd_per_1m: '0.05' }),
      reranker('acme/voyage', 'voyage', 'voyage-rerank', { prompt_usd_per_1m: '0.05' }),
      reranker('acme/cohere', 'cohere', 'cohere-rerank', { search_usd_per_1k: '2' }),
    );
  });
  beforeEach(() => edge.sim.reset());

  const rerank = (body: object): Promise<Response> => edge.post(body, { path: '/v1/rerank' });

  it.each([
    ['simulator/rerank', { prompt_tokens: 14, requests: 1 }, '0.0000007'],
    ['acme/voyage', { prompt_tokens: 14, requests: 1 }, '0.0000007'],
    ['acme/cohere', { searches: 1, requests: 1 }, '0.002'],
  ])('%s puts documents in order, and bills what the provider counted', async (model, usage, cost) => {
    const answer = await rerank({ model, query: 'red fox', documents: DOCUMENTS, return_documents: true });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      object: 'rerank',
      model,
      results: [
        { index: 1, relevance_score: 1, document: { text: 'A red fox' } },
        { index: 2, relevance_score: 1 },
        { index: 0, relevance_score: 0 },
      ],
    });
    expect(await edge.record(answer)).toMatchObject({
      endpoint: '/v1/rerank',
      outcome: 'served',
      usage,
      usage_estimated: false,
      cost_usd: cost,
    });
  });

  it('returns no more than top_n', async () => {
    const answer = await rerank({
      model: 'simulator/rerank',
      query: 'red fox',
      documents: DOCUMENTS,
      top_n: 1,
    });
    expect(((await answer.json()) as { results: unknown[] }).results).toEqual([
      { index: 1, relevance_score: 1 },
    ]);
  });

  it.each([
    [{ query: 'q', documents: [] }, 422],
    [{ query: 'q', documents: [7] }, 422],
    [{ query: '', documents: ['a'] }, 422],
    [{ query: 'q', documents: ['a'], top_n: 0 }, 422],
    [{ query: 'q', documents: ['a'], model: 'simulator/chat' }, 400],
    [{ query: 'q', documents: ['a'], max_tokens_per_doc: 5 }, 400],
  ])('refuses %j with %i', async (body, status) => {
    expect((await rerank({ model: 'simulator/rerank', ...body })).status).toBe(status);
    expect(edge.upstream()).toHaveLength(0);
  });

  it('502 where the provider orders documents that were not sent', async () => {
    edge.sim.script([], 'malformed=shape');
    const answer = await rerank({ model: 'simulator/rerank', query: 'q', documents: ['a'] });
    expect(answer.status).toBe(502);
    expect(await edge.record(answer)).toMatchObject({ outcome: 'failed', cost_usd: null });
  });
});

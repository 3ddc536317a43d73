import OpenAI from 'openai';
import EarlierOpenAI from 'openai-6';
import type { CatalogueModel } from '@gateway/contracts';
import { testModel } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './scores.fixture.js';

const edge = tenantOf(started, 'embeddings');

/** A model of 0.13 USD for a million tokens, on the simulated provider. */
function embedder(id: string, upstreamModel: string): CatalogueModel {
  const price = { prompt_usd_per_1m: '0.13' };
  const model = testModel(id, [{ provider: 'simulated', upstreamModel }], {
    model_type: 'embedding',
    supports_completions_api: false,
    supports_embeddings: true,
    pricing: price,
  });
  return {
    ...model,
    routes: model.routes.map((route) => ({ ...route, dialect: 'embeddings', maxOutputTokens: null, price })),
  };
}

describe('POST /v1/embeddings', () => {
  beforeAll(async () => {
    edge.serveModels(
      embedder('simulator/embedding', 'sim-embedding'),
      embedder('acme/uncounted', 'sim-uncounted:usage=none'),
      embedder('acme/nonsense', 'sim-nonsense:malformed=shape'),
    );
  });

  const embed = (body: object): Promise<Response> => edge.post(body, { path: '/v1/embeddings' });

  it.each([
    ['openai 7', OpenAI],
    ['openai 6', EarlierOpenAI as unknown as typeof OpenAI],
  ])('EMB-01 EMB-02 %s reads the vector of each input in either form', async (_sdk, Sdk) => {
    const openai = new Sdk({ baseURL: `${edge.url}/openai/v1`, apiKey: edge.key, maxRetries: 0 });
    const asked = { model: 'simulator/embedding', input: ['Hello', 'there'], dimensions: 4 };
    // The SDK asks for base64 by itself and decodes it.
    const decoded = await openai.embeddings.create(asked);
    const plain = await openai.embeddings.create({ ...asked, encoding_format: 'float' });
    expect(decoded.model).toBe('simulator/embedding');
    expect(decoded.data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
      [0, 4],
      [1, 4],
    ]);
    expect(decoded.data.map(({ embedding }) => Array.from(embedding))).toEqual(
      plain.data.map(({ embedding }) => embedding),
    );
  });

  it('EMB-01 bills the input, to the last decimal', async () => {
    const answer = await embed({ model: 'simulator/embedding', input: [[1, 2, 3], [4]] });
    expect(answer.status).toBe(200);
    expect(await edge.record(answer)).toMatchObject({
      endpoint: '/v1/embeddings',
      outcome: 'served',
      usage: { prompt_tokens: 4, completion_tokens: 0 },
      usage_estimated: false,
      cost_usd: '0.00000052',
    });
  });

  it('bills the estimate where the provider counts nothing, and shows 0', async () => {
    const answer = await embed({ model: 'acme/uncounted', input: 'Hello there' });
    expect(await answer.json()).toMatchObject({ usage: { prompt_tokens: 0, total_tokens: 0 } });
    expect(await edge.record(answer)).toMatchObject({
      usage: { prompt_tokens: 3 },
      usage_estimated: true,
      cost_usd: '0.00000039',
    });
  });

  it('MOD-12 400 where the model makes no vectors, 422 without an input, 502 where the answer is none', async () => {
    const talks = await embed({ model: 'simulator/chat', input: 'a' });
    expect([talks.status, await codeOf(talks)]).toEqual([400, 'model_capability_not_supported']);
    const none = await embed({ model: 'simulator/embedding' });
    expect([none.status, await codeOf(none)]).toEqual([422, 'validation_error']);
    const nonsense = await embed({ model: 'acme/nonsense', input: 'a' });
    expect([nonsense.status, await codeOf(nonsense)]).toEqual([502, 'upstream_error']);
    expect((await edge.post({ input: 'a' }, { path: '/v1/embeddings', key: null })).status).toBe(401);
  });
});

async function codeOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { error: { code: string } }).error.code;
}

import OpenAI from 'openai';
import EarlierOpenAI from 'openai-6';
import type { CatalogueModel } from '@gateway/contracts';
import { testModel } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './scores.fixture.js';

const edge = tenantOf(started, 'moderations');

/** A free model that judges, on the simulated provider. */
function judge(id: string, upstreamModel: string): CatalogueModel {
  const price = { prompt_usd_per_1m: '0', completion_usd_per_1m: '0', is_free: true };
  const model = testModel(id, [{ provider: 'simulated', upstreamModel }], {
    is_free: true,
    supports_completions_api: false,
    pricing: price,
  });
  return { ...model, routes: model.routes.map((route) => ({ ...route, dialect: 'moderations', price })) };
}

describe('POST /v1/moderations', () => {
  beforeAll(async () => {
    edge.serveModels(
      judge('simulator/moderation', 'sim-moderation'),
      judge('acme/omni-moderation-latest', 'sim-omni'),
      judge('acme/broken', 'sim-broken:error=500'),
      judge('acme/nonsense', 'sim-nonsense:malformed=shape'),
    );
  });

  const moderate = (body: object): Promise<Response> => edge.post(body, { path: '/v1/moderations' });

  it.each([
    ['openai 7', OpenAI],
    ['openai 6', EarlierOpenAI as unknown as typeof OpenAI],
  ])('%s reads the verdict on each input', async (_sdk, Sdk) => {
    const openai = new Sdk({ baseURL: `${edge.url}/openai/v1`, apiKey: edge.key, maxRetries: 0 });
    const { model, results } = await openai.moderations.create({
      model: 'simulator/moderation',
      input: ['Hello', 'I like violence'],
    });
    expect(model).toBe('simulator/moderation');
    expect(results.map(({ flagged }) => flagged)).toEqual([false, true]);
    const byDefault = await openai.moderations.create({ input: 'Hello' });
    expect(byDefault.model).toBe('acme/omni-moderation-latest');
  });

  it('records one unit at no cost', async () => {
    const answer = await moderate({ model: 'simulator/moderation', input: 'Hello there' });
    expect(answer.status).toBe(200);
    expect(await edge.record(answer)).toMatchObject({
      endpoint: '/v1/moderations',
      model: 'simulator/moderation',
      outcome: 'served',
      cost_usd: '0',
      // The provider counts no tokens: eleven bytes are sent.
      usage: { prompt_tokens: 3, completion_tokens: 0 },
      usage_estimated: true,
    });
  });

  it('MOD-12 400 where the model talks and does not judge, 404 where there is none', async () => {
    const talks = await moderate({ model: 'simulator/chat', input: 'a' });
    expect([talks.status, await codeOf(talks)]).toEqual([400, 'model_capability_not_supported']);
    const unknown = await moderate({ model: 'acme/none', input: 'a' });
    expect([unknown.status, await codeOf(unknown)]).toEqual([404, 'model_not_found']);
  });

  it('422 without an input, 401 without a key, 502 where the provider answers something else', async () => {
    expect((await moderate({ model: 'simulator/moderation' })).status).toBe(422);
    expect((await edge.post({ input: 'a' }, { path: '/v1/moderations', key: null })).status).toBe(401);
    const nonsense = await moderate({ model: 'acme/nonsense', input: 'a' });
    expect([nonsense.status, await codeOf(nonsense)]).toEqual([502, 'upstream_error']);
    expect((await moderate({ model: 'acme/broken', input: 'a' })).status).toBe(502);
  });
});

async function codeOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { error: { code: string } }).error.code;
}

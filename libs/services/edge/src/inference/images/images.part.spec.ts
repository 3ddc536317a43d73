import { eventually } from '@gateway/testing';
import OpenAI from 'openai';
import EarlierOpenAI from 'openai-6';
import { objectName, type CatalogueModel, type PriceRecord } from '@gateway/contracts';
import { testModel, testPrincipal, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './images.fixture.js';

const edge = tenantOf(started, 'images');

const PATH = '/v1/images/generations';
/** Prices of simulator/image in the catalogue. */
const MATRIX: PriceRecord = {
  pricing_unit: 'per_image',
  image_usd_per_unit: '0.04',
  price_matrix: [
    { when: { quality: 'low' }, usd_per_unit: '0.011' },
    { when: { quality: 'high', size: ['1024x1536', '1536x1024'] }, usd_per_unit: '0.25' },
    { when: { quality: 'high' }, usd_per_unit: '0.167' },
    { when: {}, usd_per_unit: '0.042' },
  ],
};
const BY_UNIT: PriceRecord = { pricing_unit: 'per_image', image_usd_per_unit: '0.0391' };
/** Prices in the form of gpt-image models. */
const BY_TOKEN: PriceRecord = {
  pricing_unit: 'per_1m_tokens',
  prompt_usd_per_1m: '5',
  cache_read_input_usd_per_1m: '2',
  image_input_usd_per_1m: '8',
  image_output_usd_per_1m: '30',
};

function painter(
  id: string,
  price: PriceRecord,
  { upstreamModel = 'sim-image', dialect = 'images' } = {},
): CatalogueModel {
  const model = testModel(id, [{ provider: 'simulated', upstreamModel }], {
    model_type: 'image',
    supports_completions_api: false,
    input_modalities: ['text'],
    output_modalities: ['image'],
    pricing: price,
  });
  return {
    ...model,
    routes: model.routes.map((route) => ({ ...route, dialect, price, maxOutputTokens: null })),
  };
}

describe('POST /v1/images/generations', () => {
  beforeAll(async () => {
    edge.serveModels(
      painter('simulator/image', MATRIX),
      painter('acme/by-unit', BY_UNIT),
      painter('acme/by-token', BY_TOKEN, { upstreamModel: 'sim-image:prompt=50;completion=4160' }),
      painter('acme/uncounted', BY_TOKEN, { upstreamModel: 'sim-image:usage=none' }),
      painter('acme/elsewhere', BY_UNIT, { dialect: 'paintings' }),
      painter('simulator/image-tools', BY_UNIT, { upstreamModel: 'sim-picture', dialect: 'recraft' }),
      painter('simulator/image-frame', BY_UNIT, { upstreamModel: 'sim-picture', dialect: 'xai-images' }),
      painter('acme/silent', MATRIX, { upstreamModel: 'sim-image:hang=1' }),
      painter('acme/broken', BY_UNIT, { upstreamModel: 'sim-image:error=500' }),
      painter('acme/nonsense', BY_UNIT, { upstreamModel: 'sim-image:malformed=shape' }),
    );
  });

  const generate = (body: object, key?: string | null): Promise<Response> =>
    edge.post({ model: 'simulator/image', prompt: 'A red fox', ...body }, { path: PATH, key });

  /** The record of a request that was served. */
  async function recordOf(body: object): Promise<Json> {
    const answer = await generate(body);
    expect(answer.status).toBe(200);
    return edge.record(answer);
  }

  it.each([
    ['openai 7', OpenAI],
    ['openai 6', EarlierOpenAI as unknown as typeof OpenAI],
  ])('IMG-01 %s reads the images, their size and their tokens', async (_sdk, Sdk) => {
    const openai = new Sdk({ baseURL: `${edge.url}/openai/v1`, apiKey: edge.key, maxRetries: 0 });
    const answer = await openai.images.generate({
      model: 'simulator/image',
      prompt: 'A red fox',
      n: 2,
      size: '1536x1024',
      quality: 'low',
      response_format: 'b64_json',
    });
    expect(answer).toMatchObject({ size: '1536x1024', quality: 'low', output_format: 'png' });
    expect(answer.created).toEqual(expect.any(Number));
    expect(answer.usage).toMatchObject({ input_tokens: 3, output_tokens: 544, total_tokens: 547 });
    expect(answer.data).toHaveLength(2);
    expect(Buffer.from(String(answer.data?.[1].b64_json), 'base64').toString('latin1', 1, 4)).toBe('PNG');
  });

  it('IMG-02 answers addresses that give the images', async () => {
    const answer = await generate({ n: 2, response_format: 'url' });
    const { created, data } = (await answer.json()) as { created: number; data: { url: string }[] };
    expect([answer.status, created, Object.keys(data[0])]).toEqual([200, expect.any(Number), ['url']]);
    for (const { url } of data) {
      const { pathname, searchParams } = new URL(url);
      const [kind, owner, name] = pathname.split('/').slice(-3);
      const kept = await edge.objects.follow(
        objectName(kind, owner, name),
        String(searchParams.get('expires')),
        String(searchParams.get('signature')),
      );
      expect([kind, owner, kept?.contentType]).toEqual(['results', edge.accountId, 'image/png']);
      kept?.content.destroy();
    }
  });

  it.each(['simulator/image-tools', 'simulator/image-frame'])('IMG-01 %s makes images too', async (model) => {
    const answer = await generate({ model });
    const { data } = (await answer.json()) as { data: object[] };
    expect([answer.status, data.length]).toEqual([200, 1]);
  });

  it('sends members that nobody knows to the provider, and its own name of the model', async () => {
    await generate({ odd: { deep: [1] }, response_format: 'b64_json' });
    expect(JSON.parse(String(edge.upstream().at(-1)?.body))).toEqual({
      model: 'sim-image',
      prompt: 'A red fox',
      odd: { deep: [1] },
    });
  });

  it('bills by the unit: every image that was delivered', async () => {
    expect(await recordOf({ model: 'acme/by-unit', n: 3, user: 'fox-lover' })).toMatchObject({
      endpoint: PATH,
      model: 'acme/by-unit',
      provider: 'simulated',
      outcome: 'served',
      cost_usd: '0.1173',
      list_cost_usd: '0.1173',
      usage: { images: 3, prompt_tokens: 3, completion_tokens: 3_168, image_output_tokens: 3_168 },
      usage_estimated: false,
      end_user_hash: expect.any(String),
    });
  });

  it.each([
    ['quality', { quality: 'low', n: 2 }, '0.022'],
    ['quality and size', { quality: 'high', size: '1536x1024' }, '0.25'],
    ['quality, whatever the size', { quality: 'high', size: '2048x2048' }, '0.167'],
    // Left to the model, which reports 1024x1024 in medium.
    ['the row that always holds', {}, '0.042'],
  ])('bills by the matrix: %s', async (_row, body, cost) => {
    const record = await recordOf(body);
    expect(record).toMatchObject({ cost_usd: cost, usage_estimated: false });
    expect(record.priced_from).toMatchObject({
      context: {
        size: '1024x1024',
        quality: 'medium',
        output_format: 'png',
        background: 'opaque',
        ...without(body),
      },
    });
  });

  it('bills by the format that the provider reports, not by the one asked for', async () => {
    const { priced_from: from } = await recordOf({ output_format: 'webp' });
    expect(from).toMatchObject({ context: { output_format: 'png' } });
  });

  it('bills by the token: 50 of text at 5 and 4,160 of an image at 30 a million', async () => {
    expect(await recordOf({ model: 'acme/by-token' })).toMatchObject({
      cost_usd: '0.12505',
      usage: { images: 1, prompt_tokens: 50, completion_tokens: 4_160, image_output_tokens: 4_160 },
    });
  });

  it('estimates and flags what the provider did not count: the text, and 1,000 tokens an image', async () => {
    const answer = await generate({ model: 'acme/uncounted', n: 2 });
    expect(await answer.json()).not.toHaveProperty('usage');
    expect(await edge.record(answer)).toMatchObject({
      cost_usd: '0.060015',
      usage: { images: 2, prompt_tokens: 3, completion_tokens: 2_000, image_output_tokens: 2_000 },
      usage_estimated: true,
    });
  });

  it.each([
    ['the dearest price where quality is left open', { n: 10 }, 2_500_000_000n],
    ['the row that quality makes certain', { n: 10, quality: 'low' }, 110_000_000n],
    ['the row of quality and size', { n: 2, quality: 'high', size: '1024x1024' }, 334_000_000n],
  ])('holds while it runs: %s', async (_price, body, nano) => {
    const accountId = `acct_${nano}`;
    const key = edge.addKey(testPrincipal(`key_${nano}`, { accountId }));
    const caller = new AbortController();
    const held = edge.post(
      { model: 'acme/silent', prompt: 'a', ...body },
      { path: PATH, key, signal: caller.signal },
    );
    await eventually(async () => (await edge.limits.read(accountId, [])).reservedUnits === 1);
    expect((await edge.limits.read(accountId, [])).reservedNano).toBe(nano);
    caller.abort();
    await expect(held).rejects.toThrow('aborted');
    await eventually(async () => (await edge.limits.read(accountId, [])).reservedUnits === 0);
  });

  it('IMG-03 501 where the model makes no images or no provider of it speaks of them', async () => {
    for (const model of ['simulator/chat', 'acme/elsewhere']) {
      const answer = await generate({ model });
      expect([answer.status, await codeOf(answer)]).toEqual([501, 'model_capability_not_supported']);
    }
  });

  it.each([
    [{ prompt: '' }, 'prompt'],
    [{ n: 11 }, 'n'],
    [{ size: 'large' }, 'size'],
    [{ response_format: 'svg' }, 'response_format'],
    [{ stream: true }, 'stream'],
    [{ partial_images: 1 }, 'partial_images'],
    [{ model: null }, 'model'],
  ])('422 for %j, and nothing is sent', async (body, param) => {
    const before = edge.upstream().length;
    const answer = await generate(body);
    const { error } = (await answer.json()) as { error: { code: string; param: string } };
    expect([answer.status, error.code, error.param]).toEqual([422, 'validation_error', param]);
    expect(edge.upstream()).toHaveLength(before);
  });

  it('401, 404 and 403 as for chat', async () => {
    expect((await generate({}, null)).status).toBe(401);
    const unknown = await generate({ model: 'acme/none' });
    expect([unknown.status, await codeOf(unknown)]).toEqual([404, 'model_not_found']);
    const reader = edge.addKey(testPrincipal('key_reader', { permissions: ['models:read'] }));
    expect((await generate({}, reader)).status).toBe(403);
  });

  it('502 at no cost where the provider fails or answers no image', async () => {
    for (const model of ['acme/broken', 'acme/nonsense']) {
      const answer = await generate({ model });
      expect([answer.status, await codeOf(answer)]).toEqual([502, 'upstream_error']);
      expect(await edge.record(answer)).toMatchObject({ outcome: 'failed', cost_usd: null });
    }
  });
});

/** Returns the request without the number of images. */
function without({ n: _n, ...rest }: { n?: number; quality?: string; size?: string }): object {
  return rest;
}

async function codeOf(answer: Response): Promise<string> {
  return ((await answer.json()) as { error: { code: string } }).error.code;
}

import sharp from 'sharp';
import OpenAI, { toFile } from 'openai';
import EarlierOpenAI from 'openai-6';
import type { CatalogueModel, PriceRecord } from '@gateway/contracts';
import { testModel, testPrincipal } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './images.fixture.js';

const edge = tenantOf(started, 'image_edits');

const PATH = '/v1/images/edits';
/** Prices by the operation, and by each sent image. */
const MATRIX: PriceRecord = {
  pricing_unit: 'per_image',
  input_usd_per_unit: '0.001',
  price_matrix: [
    { when: { operation: 'inpaint' }, usd_per_unit: '0.05' },
    { when: { quality: 'low' }, usd_per_unit: '0.011' },
    { when: {}, usd_per_unit: '0.042' },
  ],
};
const BY_TOKEN: PriceRecord = {
  pricing_unit: 'per_1m_tokens',
  prompt_usd_per_1m: '5',
  image_input_usd_per_1m: '8',
  image_output_usd_per_1m: '30',
};
const ALL = ['edit', 'inpaint', 'outpaint', 'mix', 'reference', 'remove_background', 'reframe'];

function editor(id: string, price: PriceRecord, { dialect = 'images', flags = ALL } = {}): CatalogueModel {
  const model = testModel(id, [{ provider: 'simulated', upstreamModel: 'sim-image' }], {
    model_type: 'image',
    supports_completions_api: false,
    input_modalities: ['text', 'image'],
    output_modalities: ['image'],
    pricing: price,
    ...Object.fromEntries(flags.map((flag) => [`supports_image_${flag}`, true])),
  });
  return {
    ...model,
    routes: model.routes.map((route) => ({ ...route, dialect, price, maxOutputTokens: null })),
  };
}

function png(colour: string): Promise<Buffer> {
  return sharp({ create: { width: 16, height: 16, channels: 3, background: colour } })
    .png()
    .toBuffer();
}

describe('POST /v1/images/edits', () => {
  let image: Buffer;
  let url: string;
  let white: string;

  beforeAll(async () => {
    edge.serveModels(
      editor('simulator/image', MATRIX),
      editor('acme/by-token', BY_TOKEN),
      editor('acme/maker', MATRIX, { flags: [] }),
      editor('acme/tools', MATRIX, { dialect: 'recraft', flags: ['upscale', 'remove_background'] }),
      editor('acme/frame', MATRIX, { dialect: 'xai-images' }),
      editor('acme/elsewhere', MATRIX, { dialect: 'paintings' }),
    );
    image = await png('#ff0000');
    url = `data:image/png;base64,${image.toString('base64')}`;
    white = `data:image/png;base64,${(await png('#ffffff')).toString('base64')}`;
  });

  const edit = (body: object, key?: string | null): Promise<Response> =>
    edge.post({ model: 'simulator/image', prompt: 'A hat', image: url, ...body }, { path: PATH, key });

  it.each([
    ['openai 7', OpenAI],
    ['openai 6', EarlierOpenAI as unknown as typeof OpenAI],
  ])('IMG-04 %s edits images of a form', async (_sdk, Sdk) => {
    const openai = new Sdk({ baseURL: `${edge.url}/openai/v1`, apiKey: edge.key, maxRetries: 0 });
    const answer = await openai.images.edit({
      model: 'simulator/image',
      prompt: 'A hat',
      image: [await toFile(image, 'a.png'), await toFile(image, 'b.png')],
      mask: await toFile(image, 'mask.png'),
      n: 2,
      quality: 'low',
      response_format: 'b64_json',
    });
    expect(answer).toMatchObject({ quality: 'low', created: expect.any(Number) });
    expect(
      answer.data?.map((one) => Buffer.from(one.b64_json ?? '', 'base64').toString('latin1', 1, 4)),
    ).toEqual(['PNG', 'PNG']);
  });

  it('IMG-05 takes JSON, and bills every image that is sent and made', async () => {
    const answer = await edit({ n: 2, quality: 'low', reference_images: [url] });
    expect(answer.status).toBe(200);
    expect(await edge.record(answer)).toMatchObject({
      endpoint: PATH,
      outcome: 'served',
      // 2 at 0.011 and 2 at 0.001.
      cost_usd: '0.024',
      usage: { images: 2, input_images: 2, prompt_tokens: 648, image_input_tokens: 646 },
      priced_from: { context: { operation: 'edit', quality: 'low' } },
    });
  });

  it('IMG-18 inpaints at the price of the operation', async () => {
    const answer = await edit({ operation: 'inpaint', mask: white, mask_feather: 2 });
    const { data } = (await answer.json()) as { data: { b64_json: string }[] };
    const { width, height } = await sharp(Buffer.from(data[0].b64_json, 'base64')).metadata();
    expect([width, height]).toEqual([16, 16]);
    expect(await edge.record(answer)).toMatchObject({
      cost_usd: '0.051',
      priced_from: { context: { operation: 'inpaint' } },
    });
  });

  it('IMG-12 upscales to exactly what was asked for', async () => {
    const answer = await edit({ model: 'acme/tools', operation: 'upscale', upscale_factor: 'x4' });
    const { data } = (await answer.json()) as { data: { b64_json: string }[] };
    const { width, height } = await sharp(Buffer.from(data[0].b64_json, 'base64')).metadata();
    expect([width, height]).toEqual([64, 64]);
    expect(await edge.record(answer)).toMatchObject({
      cost_usd: '0.043',
      usage: { images: 1, input_images: 1, prompt_tokens: 0, completion_tokens: 0 },
      usage_estimated: false,
      priced_from: { context: { operation: 'upscale', upscale_factor: 'x4' } },
    });
  });

  it('IMG-17 reframes over an upstream that takes JSON', async () => {
    const answer = await edit({ model: 'acme/frame', operation: 'reframe', aspect_ratio: '3:2' });
    const { data } = (await answer.json()) as { data: { url: string }[] };
    expect([answer.status, data.length]).toEqual([200, 1]);
    expect(JSON.parse(String(edge.upstream().at(-1)?.body))).toMatchObject({
      model: 'sim-image',
      aspect_ratio: '3:2',
      image: { type: 'image_url', url },
    });
  });

  it('bills by the token what was sent and what was made', async () => {
    const answer = await edit({ model: 'acme/by-token', quality: 'low' });
    // 2 of text at 5, 323 of an image at 8 and 272 at 30 a million.
    expect(await edge.record(answer)).toMatchObject({ cost_usd: '0.010754' });
  });

  it('IMG-09 422 without the flag, IMG-24 501 where no provider of the model edits', async () => {
    const refused = async (body: object): Promise<unknown[]> => {
      const answer = await edit(body);
      const { error } = (await answer.json()) as { error: { code: string } };
      return [answer.status, error.code];
    };
    expect(await refused({ model: 'acme/maker' })).toEqual([422, 'validation_error']);
    const { error } = (await (await edit({ model: 'acme/maker' })).json()) as { error: { message: string } };
    expect(error.message).toBe('acme/maker does not have supports_image_edit.');
    expect(await refused({ model: 'simulator/chat' })).toEqual([422, 'validation_error']);
    expect(await refused({ model: 'acme/elsewhere' })).toEqual([501, 'model_capability_not_supported']);
    expect(await refused({ operation: 'reframe', aspect_ratio: '1:1' })).toEqual([
      501,
      'model_capability_not_supported',
    ]);
  });

  it('IMG-07 IMG-21 IMG-22 IMG-23 refuses before anything is sent', async () => {
    const before = edge.upstream().length;
    const statusOf = async (body: object): Promise<number> => (await edit(body)).status;
    expect(await statusOf({ image: 'https://example.com/a.png' })).toBe(422);
    expect(await statusOf({ image: undefined })).toBe(422);
    expect(await statusOf({ image: Buffer.from('GIF89a012345678901234567890').toString('base64') })).toBe(
      415,
    );
    const large = Buffer.concat([image, Buffer.alloc(20 * 1024 * 1024)]);
    expect(await statusOf({ image: large.toString('base64') })).toBe(422);
    expect(edge.upstream()).toHaveLength(before);
  });

  it('IMG-10 422 names the prompt or the image that an edit lacks', async () => {
    const before = edge.upstream().length;
    for (const missing of ['prompt', 'image']) {
      const answer = await edit({ [missing]: undefined });
      const { error } = (await answer.json()) as { error: { code: string; details: { loc: string[] }[] } };
      expect([answer.status, error.code]).toEqual([422, 'validation_error']);
      expect(error.details[0].loc).toEqual([missing]);
    }
    expect(edge.upstream()).toHaveLength(before);
  });

  it('IMG-10 takes an edit with and without a mask, and with references', async () => {
    const url = `data:image/png;base64,${image.toString('base64')}`;
    for (const more of [{}, { mask: url }, { reference_images: [url] }])
      expect([more, (await edit(more)).status]).toEqual([more, 200]);
  });

  it('IMG-25 401, 404 and 403 as for chat', async () => {
    expect((await edit({}, null)).status).toBe(401);
    expect((await edit({ model: 'acme/none' })).status).toBe(404);
    const reader = edge.addKey(testPrincipal('key_reader', { permissions: ['models:read'] }));
    expect((await edit({}, reader)).status).toBe(403);
  });
});

import { ApiError } from '@gateway/contracts';
import {
  formBody,
  Unsupported,
  readForm,
  type AnswerFacts,
  type Form,
  type RouteTarget,
} from '@gateway/dialects';
import { UpstreamCallsDouble } from '@gateway/testing';
import sharp from 'sharp';
import type { Asked } from '../endpoint.js';
import type { AskedImages } from '../image-answers/asked-images.js';
import { halfMask, image } from './edits.fixture.js';
import { endpoint, imageEdits } from './image-edits.endpoint.js';
import { wholeBody } from '../stored/stored-content-needed.js';

const route: RouteTarget = {
  dialect: 'images',
  upstreamModel: 'gpt-image-2',
  maxOutputTokens: null,
  contextLength: 10_000,
  reasoning: { style: 'none' },
  fixesSampling: false,
  quirks: {},
};
const facts: AnswerFacts = {
  requestId: 'req_1',
  model: 'openai/gpt-image-2',
  created: 1_700_000_000,
  now: () => 1_700_000_001,
  answerId: () => 'img_1',
  tier: 'default',
  byokUsed: false,
  fallbackTriggered: false,
  believed: (reported) => reported,
};
const { url, bytes } = await image();
const base64 = bytes.toString('base64');
const mask = await halfMask();

function read(body: unknown, from = endpoint): Asked<AskedImages> {
  return wholeBody(
    from.read({
      bytes: Buffer.from(JSON.stringify(body)),
      headers: { 'content-type': 'application/json' },
    }),
  );
}

function readOf(form: Partial<Form>): Asked<AskedImages> {
  const sent = formBody('/', '*/*', { fields: [], files: [], boundary: 'x', ...form });
  return wholeBody(
    endpoint.read({
      bytes: Buffer.concat(sent.pieces),
      headers: { 'content-type': sent.contentType },
    }),
  );
}

function file(field: string, of: Uint8Array = bytes): Form['files'][number] {
  return { field, filename: 'a.png', contentType: 'image/png', bytes: of };
}

function rejection(ask: () => unknown): [number, string, string | null | undefined] {
  try {
    ask();
  } catch (error) {
    if (error instanceof ApiError) return [error.status, error.code, error.options.param];
    throw error;
  }
  throw new Error('nothing was refused');
}

/** Returns the request sent for a body, and the first image that the caller gets. */
async function edited(body: object, made = base64): Promise<{ form: Form; at: string; image: Buffer }> {
  const calls = new UpstreamCallsDouble([{ body: { data: [{ b64_json: made }] } }]);
  const translation = endpoint.translate(read(body), route);
  if (translation instanceof Unsupported || !translation.exchange) throw new Error('no exchange');
  const { piece } = await translation.exchange(calls, facts);
  const [sent] = calls.sent;
  const { data } = JSON.parse(String(piece.out)) as { data: { b64_json: string }[] };
  return {
    form: readForm(sent.body, sent.contentType) as Form,
    at: sent.at,
    image: Buffer.from(data[0].b64_json, 'base64'),
  };
}

describe('what an edit is', () => {
  it.each([
    ['a data URL', url],
    ['base64', base64],
    ['base64 in lines', base64.replace(/(.{20})/g, '$1\n')],
    ['{url}', { url }],
    ['OpenAI’s {image_url}', { image_url: url }],
    ['a list', [url]],
  ])('IMG-06 takes %s in JSON', (_form, given) => {
    const { request } = read({ prompt: 'a', image: given });
    expect(Buffer.from(request.images[0].bytes)).toEqual(bytes);
    expect(request.images[0]).toMatchObject({ mediaType: 'image/png', width: 8, height: 8 });
  });

  it('IMG-05 takes OpenAI’s own JSON', () => {
    const asked = read({ model: 'm', prompt: 'a', images: [{ image_url: url }, { image_url: url }], n: 2 });
    expect(asked.request.images).toHaveLength(2);
    expect(asked).toMatchObject({ billableUnits: { images: 2, input_images: 2 }, input: { inputImages: 2 } });
  });

  it('IMG-04 takes a form with image, mask and reference_images', () => {
    const fields = [
      ['prompt', 'a'],
      ['n', '2'],
      ['quality', 'low'],
    ] as const;
    const files = [file('image'), file('mask'), file('reference_images'), file('reference_images[]')];
    const { request, choices, context } = readOf({ fields, files });
    expect([request.images.length, request.references.length, request.mask?.width]).toEqual([1, 2, 8]);
    expect([choices, context]).toEqual([2, { quality: 'low', operation: 'edit' }]);
    expect(readOf({ fields, files: [file('image[]'), file('image[]')] }).request.images).toHaveLength(2);
  });

  it.each([['https://example.com/a.png'], [{ url: 'http://example.com/a.png' }], ['file:///etc/passwd']])(
    'IMG-07 refuses %j: it is never fetched',
    (given) => {
      expect(rejection(() => read({ prompt: 'a', image: given }))).toEqual([
        422,
        'validation_error',
        'image',
      ]);
      const [param] = rejection(() => read({ prompt: 'a', image: url, mask: given })).slice(2);
      expect(param).toBe('mask');
    },
  );

  it('IMG-08 knows seven operations, edit without a name', () => {
    expect(read({ prompt: 'a', image: url }).request.operation).toBe('edit');
    expect(rejection(() => read({ operation: 'paint', prompt: 'a', image: url }))).toEqual([
      422,
      'validation_error',
      'operation',
    ]);
  });

  it('IMG-09 needs the flag of the operation, and of references', () => {
    const serves = (body: object): unknown => read({ image: url, ...body }).serves;
    const failing = { status: 422, routeStatus: 501 };
    expect(serves({ operation: 'upscale', upscale_factor: 'x2' })).toEqual({
      flags: ['supports_image_upscale'],
      ...failing,
    });
    expect(serves({ prompt: 'a', reference_images: [url] })).toEqual({
      flags: ['supports_image_edit', 'supports_image_reference'],
      ...failing,
    });
    expect(serves({ operation: 'mix', prompt: 'a', reference_images: url })).toMatchObject({
      flags: ['supports_image_mix'],
    });
  });

  it.each([
    ['IMG-10', {}, ['prompt', 'image']],
    ['IMG-11', { operation: 'remove_background' }, ['image']],
    ['IMG-12', { operation: 'upscale', upscale_factor: 'x4' }, ['upscale_factor', 'image']],
    ['IMG-13', { operation: 'outpaint' }, ['image', 'prompt', 'mask']],
    ['IMG-14', { operation: 'mix' }, ['prompt', 'image', 'reference_images']],
    ['IMG-16', { operation: 'reframe', aspect_ratio: '2:3' }, ['image', 'aspect_ratio']],
    ['IMG-18', { operation: 'inpaint' }, ['image', 'mask']],
  ] as const)('IMG-22 %s %j needs each of its members', (_id, given, needs) => {
    const all: Record<string, unknown> = { prompt: 'a', image: url, mask, reference_images: [url] };
    const body: Record<string, unknown> = { ...given };
    for (const name of needs) body[name] ??= all[name];
    expect(read(body).request.images).toHaveLength(1);
    for (const name of needs)
      expect(rejection(() => read({ ...body, [name]: undefined }))).toEqual([422, 'validation_error', name]);
  });

  it.each([
    ['IMG-12', { operation: 'upscale', upscale_factor: 'x3' }, 'upscale_factor'],
    ['IMG-14', { operation: 'mix', prompt: 'a', reference_images: [] }, 'reference_images'],
    ['IMG-14', { operation: 'mix', prompt: 'a', reference_images: [url, url, url, url] }, 'reference_images'],
    ['IMG-15', { operation: 'mix', prompt: 'a', reference_images: [url], n: 2 }, 'n'],
    ['IMG-16', { operation: 'reframe', aspect_ratio: '5:4' }, 'aspect_ratio'],
    ['IMG-17', { operation: 'reframe', aspect_ratio: '1:1', n: 2 }, 'n'],
    ['IMG-11', { operation: 'remove_background', mask }, 'mask'],
    ['IMG-19', { prompt: 'a', mask, mask_feather: 3 }, 'mask_feather'],
    ['IMG-22', { prompt: '' }, 'prompt'],
    ['IMG-22', { operation: 'inpaint', mask, image: [url, url] }, 'image'],
    ['IMG-22', { prompt: 'a', n: 11 }, 'n'],
    ['IMG-22', { prompt: 'a', stream: true }, 'stream'],
    ['IMG-22', { prompt: 'a', image: 'data:image/png,abc' }, 'image'],
    ['IMG-22', { prompt: 'a', image: 'not*base64' }, 'image'],
    ['IMG-22', { prompt: 'a', image: 7 }, 'image'],
    ['IMG-22', { prompt: 'a', image: bytes.subarray(0, 12).toString('base64') }, 'image'],
  ])('%s refuses %j', (_id, given, param) => {
    expect(rejection(() => read({ image: url, ...given }))).toEqual([422, 'validation_error', param]);
  });

  it.each([
    ['gif', Buffer.from('GIF89a012345678901234567890')],
    ['bmp', Buffer.from('BM012345678901234567890123456')],
    ['text', Buffer.from('no image at all')],
  ])('IMG-21 415 for %s, whatever it says it is', (_type, other) => {
    const body = { prompt: 'a', image: `data:image/png;base64,${other.toString('base64')}` };
    expect(rejection(() => read(body))).toEqual([415, 'invalid_input', 'image']);
    const form = { fields: [['prompt', 'a']] as const, files: [file('image', other)] };
    expect(rejection(() => readOf(form))).toEqual([415, 'invalid_input', 'image']);
    const twice = { ...form, fields: [['prompt', 'a'] as const, ['prompt', 'b'] as const] };
    expect(rejection(() => readOf(twice))).toEqual([422, 'validation_error', 'prompt']);
  });

  it('IMG-23 422 for an image above 20 MiB, with its place', () => {
    const large = Buffer.concat([bytes, Buffer.alloc(20 * 1024 * 1024)]);
    const form = { fields: [['prompt', 'a']] as const, files: [file('image', large)] };
    expect(rejection(() => readOf(form))).toEqual([422, 'validation_error', 'image']);
    const fits = Buffer.concat([bytes, Buffer.alloc(20 * 1024 * 1024 - bytes.length)]);
    expect(readOf({ ...form, files: [file('image', fits)] }).request.images).toHaveLength(1);
  });

  it('IMG-18 needs a mask of the image’s size', async () => {
    const body = { operation: 'inpaint', image: url, mask: await halfMask(10, 8) };
    expect(rejection(() => read(body))).toEqual([422, 'validation_error', 'mask']);
  });

  it.each([
    ['a side that is too long', 1_000_000, 16, 0, 'mask'],
    ['a side that is too high', 16, 1_000_000, 0, 'mask'],
    ['more fading than a second of work', 5_000, 5_000, 17, 'mask_feather'],
  ])('IMG-18 422 for %s, before anything is decoded', (_what, width, height, mask_feather, param) => {
    const sized = (): string => {
      const bytes = Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
      bytes.writeUInt32BE(width, 16);
      bytes.writeUInt32BE(height, 20);
      return `data:image/png;base64,${bytes.toString('base64')}`;
    };
    const body = { operation: 'inpaint', image: sized(), mask: sized(), mask_feather };
    expect(rejection(() => read(body))).toEqual([422, 'validation_error', param]);
    if (mask_feather > 0) expect(() => read({ ...body, mask_feather: 16 })).not.toThrow();
  });

  it('IMG-20 501 for mask_feather where the imaging library is not there', () => {
    const without = imageEdits(() => null);
    const body = { operation: 'inpaint', image: url, mask };
    expect(rejection(() => read({ ...body, mask_feather: 4 }, without))).toEqual([
      501,
      'model_capability_not_supported',
      'mask_feather',
    ]);
    expect(rejection(() => read(body, without))[2]).toBe('mask');
    expect(read({ prompt: 'a', image: url }, without).request.operation).toBe('edit');
  });
});

describe('an edit in OpenAI’s format', () => {
  it('sends a form with the provider’s model, the images in order and members that nobody knows', async () => {
    const { form, at } = await edited({ model: 'm', prompt: 'a', image: [url, url], size: 'auto', odd: 1 });
    expect(at).toBe('/images/edits');
    expect(form.fields).toEqual([
      ['model', 'gpt-image-2'],
      ['prompt', 'a'],
      ['n', '1'],
      ['size', 'auto'],
      ['odd', '1'],
    ]);
    expect(
      form.files.map((one) => [one.field, one.contentType, Buffer.from(one.bytes).equals(bytes)]),
    ).toEqual([
      ['image[]', 'image/png', true],
      ['image[]', 'image/png', true],
    ]);
  });

  it('IMG-15 mixes the image with its references', async () => {
    const { form } = await edited({
      operation: 'mix',
      prompt: 'a',
      image: url,
      reference_images: [url, url],
    });
    expect(form.files.map(({ field }) => field)).toEqual(['image[]', 'image[]', 'image[]']);
    expect(form.fields.map(([name]) => name)).toEqual(['model', 'prompt', 'n']);
  });

  it('IMG-11 removes a background without a prompt', async () => {
    const { form } = await edited({ operation: 'remove_background', image: url });
    expect(Object.fromEntries(form.fields)).toMatchObject({
      background: 'transparent',
      output_format: 'png',
    });
  });

  it('IMG-18 marks with transparent pixels what is white in the caller’s mask', async () => {
    const { form } = await edited({ operation: 'inpaint', image: url, mask });
    const sent = form.files.find(({ field }) => field === 'mask');
    const { data } = await sharp(sent?.bytes).raw().toBuffer({ resolveWithObject: true });
    expect([data[3], data[7 * 4 + 3]]).toEqual([0, 255]);
  });

  it('IMG-19 gives the answer inside the mask and the caller’s own pixels outside', async () => {
    const blue = await image(16, 16, '#0000ff');
    const body = { operation: 'inpaint', image: url, mask, mask_feather: 1 };
    const answered = await edited(body, blue.bytes.toString('base64'));
    const { data, info } = await sharp(answered.image).raw().toBuffer({ resolveWithObject: true });
    const at = (x: number): number[] => [...data.subarray(x * info.channels, x * info.channels + 3)];
    expect([info.width, info.height]).toEqual([8, 8]);
    expect(at(0)).toEqual([0, 0, 255]);
    expect(at(7)).toEqual([255, 0, 0]);
  });

  it('IMG-13 extends around what the mask keeps, and refuses a mask that keeps nothing', async () => {
    const body = { operation: 'outpaint', prompt: 'a', image: url };
    expect((await edited({ ...body, mask })).form.files.map(({ field }) => field)).toEqual([
      'image[]',
      'mask',
    ]);
    const { url: white } = await image(8, 8, '#ffffff');
    await expect(edited({ ...body, mask: white })).rejects.toMatchObject({ status: 422 });
  });

  it('IMG-18 422 for a mask of inpaint that paints nothing; an edit passes any mask on', async () => {
    const { url: black } = await image(8, 8, '#000000');
    await edited({ operation: 'edit', prompt: 'a', image: url, mask: black });
    await expect(
      edited({ operation: 'inpaint', prompt: 'a', image: url, mask: black }),
    ).rejects.toMatchObject({
      status: 422,
      code: 'validation_error',
      message: expect.stringContaining('white is painted') as string,
    });
  });

  it('IMG-22 422 for a mask that cannot be decoded', async () => {
    const broken = Buffer.concat([bytes.subarray(0, 40), Buffer.alloc(40)]).toString('base64');
    await expect(edited({ operation: 'inpaint', image: url, mask: broken })).rejects.toMatchObject({
      status: 422,
      code: 'invalid_input',
    });
  });

  it('IMG-22 422 for an image that cannot be decoded, before it is sent to be inpainted', async () => {
    const broken = bytes.subarray(0, 60).toString('base64');
    const failure = { status: 422, code: 'invalid_input', options: { param: 'image' } };
    await expect(edited({ operation: 'inpaint', image: broken, mask })).rejects.toMatchObject(failure);
  });

  it('A7 works on no mask of a caller that has left, and calls no provider for it', async () => {
    const translation = endpoint.translate(read({ operation: 'inpaint', image: url, mask }), route);
    if (translation instanceof Unsupported) throw new Error('a misfit');
    const reason = new Error('left');
    const calls = Object.assign(new UpstreamCallsDouble([]), {
      caller: { accountId: 'acct_1', signal: AbortSignal.abort(reason) },
    });
    await expect(translation.exchange?.(calls, facts)).rejects.toBe(reason);
    expect(calls.sent).toEqual([]);
  });

  it('IMG-12 answers an upscaled image that is too large to be decoded here as it came', async () => {
    const body = { operation: 'upscale', upscale_factor: 'x2', image: url, response_format: 'b64_json' };
    const large = Buffer.from(bytes);
    large.writeUInt32BE(6_000, 16);
    large.writeUInt32BE(6_000, 20);
    const b64_json = large.toString('base64');
    const translation = endpoint.translate(read(body), { ...route, dialect: 'recraft' });
    if (translation instanceof Unsupported) throw new Error('a misfit');
    const calls = new UpstreamCallsDouble([{ body: { image: { b64_json } } }]);
    const answered = await translation.exchange?.(calls, facts);
    expect(JSON.parse(String(answered?.piece.out))).toMatchObject({ data: [{ b64_json }] });
  });

  it('IMG-24 has no call for upscale and reframe', () => {
    for (const body of [
      { operation: 'upscale', upscale_factor: 'x2' },
      { operation: 'reframe', aspect_ratio: '1:1' },
    ])
      expect(endpoint.translate(read({ image: url, ...body }), route)).toEqual(new Unsupported(null));
    expect(endpoint.translate(read({ prompt: 'a', image: url }), { ...route, dialect: 'chat' })).toEqual(
      new Unsupported(null),
    );
  });
});

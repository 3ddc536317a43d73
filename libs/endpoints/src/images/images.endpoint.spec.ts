import { ApiError, type UnitUsage } from '@gateway/contracts';
import {
  badReply,
  ExchangeFailure,
  Unsupported,
  type AnswerFacts,
  type Piece,
  type RouteTarget,
  type Translation,
} from '@gateway/dialects';
import { writeJson } from '@gateway/json-body';
import { UpstreamCallsDouble } from '@gateway/testing';
import fc from 'fast-check';
import type { Asked } from '../endpoint.js';
import { endpoint } from './images.endpoint.js';
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

function read(body: unknown): Asked<unknown> {
  return wholeBody(endpoint.read({ bytes: Buffer.from(JSON.stringify(body)), headers: {} }));
}

function translated(body: unknown): Translation {
  const found = endpoint.translate(read(body) as never, route);
  if (found instanceof Unsupported) throw new Error(`a misfit by ${found.param}`);
  return found;
}

async function answerTo(body: object, text: string): Promise<Piece> {
  const calls = new UpstreamCallsDouble([{ body: Buffer.from(text) }]);
  const answer = await translated({ prompt: 'a', response_format: 'b64_json', ...body }).exchange?.(
    calls,
    facts,
  );
  if (!answer) throw new Error('no exchange');
  return answer.piece;
}

async function answered(
  body: object,
  answer: object,
): Promise<{ piece: Piece; shown: Record<string, unknown> }> {
  const piece = await answerTo(body, JSON.stringify({ data: [{ b64_json: 'AAAA' }], ...answer }));
  return { piece, shown: JSON.parse(String(piece.out)) as Record<string, unknown> };
}

async function sent(body: unknown): Promise<{ at: string; json: unknown }> {
  const calls = new UpstreamCallsDouble([{ body: { data: [{ b64_json: 'AAAA' }] } }]);
  await translated(body).exchange?.(calls, facts);
  return calls.sent[0];
}

function rejection(body: unknown): ApiError {
  try {
    read(body);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const counts = {
  input_tokens: 20,
  input_tokens_details: { text_tokens: 12, image_tokens: 8 },
  output_tokens: 4_200,
  total_tokens: 4_220,
};

describe('the endpoint of images', () => {
  it('F1 sends a seed to an upstream of another format as the caller wrote it', () => {
    const bytes = Buffer.from('{"model":"a/image","prompt":"x","seed":1234567890123456789,"n":1}');
    const { request } = wholeBody(endpoint.read({ bytes, headers: {} }));
    expect(writeJson(request.options)).toBe('{"seed":1234567890123456789}');
  });

  it('says what is asked for: images, text, end user, and what a price depends on', () => {
    const asked = read({ model: 'm', prompt: 'wörd', n: 3, size: '16x32', quality: 'high', user: 'u' });
    expect(asked).toMatchObject({
      model: 'm',
      stream: false,
      endUser: 'u',
      serves: { type: 'image', status: 501 },
      input: { inputBytes: 5, inputImages: 0 },
      billableUnits: { images: 3 },
      choices: 3,
      maxOutputTokens: null,
      context: { size: '16x32', quality: 'high' },
    });
    expect(read({ prompt: 'a', user: 'u', safety_identifier: 's' }).endUser).toBe('s');
  });

  it('leaves to the model what is auto, null or absent', () => {
    const asked = read({ prompt: 'a', model: null, n: null, size: 'auto', quality: null, stream: false });
    expect(asked).toMatchObject({ model: null, endUser: null, billableUnits: { images: 1 }, choices: 1 });
    expect(asked.context).toEqual({});
  });

  it.each([
    [{}, 'prompt'],
    [{ prompt: '' }, 'prompt'],
    [{ prompt: 'é'.repeat(32_001) }, 'prompt'],
    [{ prompt: 'a', n: 0 }, 'n'],
    [{ prompt: 'a', n: 11 }, 'n'],
    [{ prompt: 'a', n: 1.5 }, 'n'],
    [{ prompt: 'a', size: 'large' }, 'size'],
    [{ prompt: 'a', size: '0x16' }, 'size'],
    [{ prompt: 'a', quality: 'best' }, 'quality'],
    [{ prompt: 'a', background: 'red' }, 'background'],
    [{ prompt: 'a', output_format: 'svg' }, 'output_format'],
    [{ prompt: 'a', output_compression: 101 }, 'output_compression'],
    [{ prompt: 'a', moderation: 'none' }, 'moderation'],
    [{ prompt: 'a', response_format: 'svg' }, 'response_format'],
    [{ prompt: 'a', style: 'odd' }, 'style'],
    [{ prompt: 'a', user: 7 }, 'user'],
    [{ prompt: 'a', stream: true }, 'stream'],
    [{ prompt: 'a', partial_images: 2 }, 'partial_images'],
    [{ prompt: 'a', model: 7 }, 'model'],
  ])('refuses %j by its parameter', (body, param) => {
    const error = rejection(body);
    expect([error.status, error.code, error.options.param]).toEqual([422, 'validation_error', param]);
  });

  it('takes the longest prompt, counted in characters', () => {
    expect(read({ prompt: '🦊'.repeat(32_000) }).input.inputBytes).toBe(128_000);
  });

  it('sends the caller’s bytes with the provider’s model, without response_format, and members that nobody knows', async () => {
    const body = { model: 'm', prompt: 'a', size: 'auto', response_format: 'b64_json', odd: 1 };
    expect(await sent(body)).toMatchObject({
      at: '/images/generations',
      json: { model: 'gpt-image-2', prompt: 'a', size: 'auto', odd: 1 },
    });
  });

  it('gives back the answer as it is, without money', async () => {
    const data = [{ b64_json: 'AAAA', revised_prompt: 'A fox.', cost: 1 }];
    const { shown } = await answered(
      {},
      { created: 5, data, odd: 1, cost_usd: 2, usage: { ...counts, cost: 3 } },
    );
    expect(shown).toEqual({
      created: 5,
      data: [{ b64_json: 'AAAA', revised_prompt: 'A fox.' }],
      odd: 1,
      usage: counts,
    });
    expect((await answered({}, { created: 'soon', data })).shown).toMatchObject({ created: facts.created });
    expect((await answered({}, {})).shown).toEqual({ created: facts.created, data: [{ b64_json: 'AAAA' }] });
  });

  it('IMG-02 answers an address, base64 or, without a wish, both', async () => {
    const calls = (): UpstreamCallsDouble =>
      new UpstreamCallsDouble([{ body: { data: [{ b64_json: 'AAAA' }, { b64_json: 'AAAA' }] } }]);
    const shown = async (body: object, by = calls()): Promise<unknown> => {
      const answer = await translated({ prompt: 'a', n: 2, ...body }).exchange?.(by, facts);
      return (JSON.parse(String(answer?.piece.out)) as { data: unknown[] }).data;
    };
    const [url, other] = ['https://objects.test/img_1-0.bin', 'https://objects.test/img_1-1.bin'];
    expect(await shown({ response_format: 'url' })).toEqual([{ url }, { url: other }]);
    expect(await shown({})).toEqual([
      { url, b64_json: 'AAAA' },
      { url: other, b64_json: 'AAAA' },
    ]);
    const away = Object.assign(calls(), {
      keep: () => Promise.reject(new ApiError('service_unavailable')),
    });
    expect(await shown({}, away)).toEqual([{ b64_json: 'AAAA' }, { b64_json: 'AAAA' }]);
    await expect(
      shown({ response_format: 'url' }, Object.assign(calls(), { keep: away.keep })),
    ).rejects.toMatchObject({ status: 503 });
  });

  it.each([
    ['without a split, all of the output is images', {}, { image_output_tokens: 4_200 }],
    [
      'the text that a model writes is none of them',
      { output_tokens_details: { image_tokens: 4_100, text_tokens: 100 } },
      { image_output_tokens: 4_100 },
    ],
    ['text alone', { output_tokens_details: { text_tokens: 100 } }, { image_output_tokens: 4_100 }],
    [
      'a part is never more than its whole',
      {
        input_tokens_details: { image_tokens: 99, cached_tokens: 99 },
        output_tokens_details: { image_tokens: 9_999 },
      },
      { image_input_tokens: 20, cached_tokens: 20, image_output_tokens: 4_200 },
    ],
    [
      'cached text and images',
      { input_tokens_details: { cached_tokens: 6, cached_tokens_details: { image_tokens: 2 } } },
      { cached_tokens: 6, cached_image_tokens: 2 },
    ],
  ])('counts tokens: %s', async (_name, more, expected) => {
    const { piece } = await answered({}, { usage: { ...counts, ...more } });
    expect(piece.usage).toMatchObject({
      images: 1,
      prompt_tokens: 20,
      completion_tokens: 4_200,
      ...expected,
    });
  });

  it.each([
    [undefined],
    [{ input_tokens: '20', output_tokens: -1 }],
    [{ input_tokens: 1.5, output_tokens: null }],
    [{ output_tokens: 2 ** 60 }],
  ])('leaves counts to the estimate, and shows 0, where they are %j', async (usage) => {
    const { piece, shown } = await answered({}, { usage });
    expect(piece.usage).toEqual({ images: 1, image_output_tokens: 1_000 });
    expect(piece.deliveredBytes).toBe(4_000);
    if (usage !== undefined)
      expect(shown.usage).toEqual({ input_tokens: 0, output_tokens: 0, total_tokens: 0 });
  });

  it('counts images that were delivered, at most those asked for', async () => {
    const image = { b64_json: 'AAAA' };
    const images = async (n: number, data: unknown[]): Promise<UnitUsage['images']> =>
      (await answered({ n }, { data })).piece.usage?.images;
    expect(await images(4, [image, image, image])).toBe(3);
    expect(await images(4, [image, {}, { b64_json: '' }, null])).toBe(1);
    expect(await images(1, [image, image])).toBe(1);
  });

  it('knows of the result what the provider reports, else what was asked for', async () => {
    const asked = { size: '1024x1536', quality: 'high', output_format: 'jpeg' };
    expect((await answered(asked, {})).piece.context).toEqual(asked);
    const reported = {
      size: '1024x1024',
      quality: 'auto',
      output_format: 'x'.repeat(65),
      background: 'opaque',
    };
    expect((await answered(asked, reported)).piece.context).toEqual({
      ...asked,
      size: '1024x1024',
      background: 'opaque',
    });
  });

  it.each([['{}'], ['[]'], ['{"data":[]}'], ['{"data":[{"url":""}]}'], ['{"data":{"b64_json":"A"}}']])(
    'takes %s for no answer',
    async (text) => {
      await expect(answerTo({}, text)).rejects.toThrow(badReply('the answer holds no image.'));
    },
  );

  it('ends in one end or one failure, whatever bytes come, and never counts more than was asked for', async () => {
    const usage = fc.record(
      {
        input_tokens: fc.jsonValue(),
        input_tokens_details: fc.jsonValue(),
        output_tokens: fc.jsonValue(),
        output_tokens_details: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const data = fc.array(fc.oneof(fc.constant({ b64_json: 'AAAA' }), fc.jsonValue()), { maxLength: 12 });
    const answer = fc.record({ data, usage, size: fc.jsonValue() }, { requiredKeys: [] });
    const bytes = fc.oneof(
      fc.string(),
      fc.json(),
      answer.map((value) => JSON.stringify(value)),
    );
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 1, max: 10 }), async (text, n) => {
        const piece = await answerTo({ n }, text).catch((failure: unknown) => {
          expect(failure).toBeInstanceOf(ExchangeFailure);
          return null;
        });
        if (piece === null) return;
        expect(piece.kind).toBe('end');
        const { images = 0, prompt_tokens: prompt = 0, completion_tokens, ...rest } = piece.usage ?? {};
        expect(images).toBeLessThanOrEqual(n);
        expect(rest.image_input_tokens ?? 0).toBeLessThanOrEqual(prompt);
        expect(rest.image_output_tokens ?? 0).toBeLessThanOrEqual(completion_tokens ?? 1_000 * n);
      }),
    );
  });

  it('has no way to a route of another dialect', () => {
    expect(endpoint.translate(read({ prompt: 'a' }) as never, { ...route, dialect: 'chat' })).toEqual(
      new Unsupported(null),
    );
  });
});

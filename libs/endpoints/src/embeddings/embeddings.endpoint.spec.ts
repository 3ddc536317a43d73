import { ApiError } from '@gateway/contracts';
import {
  Unsupported,
  type AnswerFacts,
  type EmbeddingsRequest,
  type Piece,
  type Quirks,
  type RouteTarget,
  type Translation,
} from '@gateway/dialects';
import fc from 'fast-check';
import type { Asked } from '../endpoint.js';
import { endpoint } from './embeddings.endpoint.js';
import { wholeBody } from '../stored/stored-content-needed.js';

const route = (quirks: Quirks = {}): RouteTarget => ({
  dialect: 'embeddings',
  upstreamModel: 'embed-2',
  maxOutputTokens: null,
  contextLength: 8_192,
  reasoning: { style: 'none' },
  fixesSampling: false,
  quirks,
});
const facts: AnswerFacts = {
  requestId: 'req_1',
  model: 'acme/embed',
  created: 1_700_000_000,
  now: () => 1_700_000_001,
  answerId: () => 'embd_1',
  tier: 'default',
  byokUsed: false,
  fallbackTriggered: true,
  believed: (reported) => reported,
};

function read(body: unknown): Asked<EmbeddingsRequest> {
  return wholeBody(endpoint.read({ bytes: Buffer.from(JSON.stringify(body)), headers: {} }));
}

function translation(body: unknown, quirks?: Quirks): Translation | Unsupported {
  return endpoint.translate(read(body), route(quirks));
}

function translated(body: unknown, quirks?: Quirks): Translation {
  const found = translation(body, quirks);
  if (found instanceof Unsupported) throw new Error(`a misfit by ${found.param}`);
  return found;
}

function sent(body: unknown, quirks?: Quirks): unknown {
  return JSON.parse(Buffer.concat(translated(body, quirks).request.pieces).toString());
}

function answerTo(body: unknown, text: string): Piece {
  const answer = translated(body, { takesTokenIds: true }).begin(
    { status: 200, contentType: 'application/json' },
    facts,
  );
  const [piece] = answer.push(Buffer.from(text));
  return piece;
}

const listOf = (...data: unknown[]): string =>
  JSON.stringify({ data, usage: { prompt_tokens: 5, cost: 1 }, odd: 1, provider: 'DeepInfra' });

function base64Of(...vector: number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}

describe('the endpoint of embeddings', () => {
  it.each([
    ['a text', 'wörd', 1, 5],
    ['texts', ['ab', 'cde'], 2, 5],
    ['token ids', [1, 2, 3], 1, 12],
    ['lists of token ids', [[1, 2], [3]], 2, 12],
  ])('EMB-02 reads %s', (_name, input, count, inputBytes) => {
    const asked = read({ input, model: 'm', user: 'u' });
    expect(asked.request.inputs).toHaveLength(count);
    expect(asked).toMatchObject({ model: 'm', endUser: 'u', maxOutputTokens: 0, input: { inputBytes } });
  });

  it.each([
    [{}, 'input'],
    [{ input: '' }, 'input'],
    [{ input: [] }, 'input'],
    [{ input: ['a', ''] }, 'input.1'],
    [{ input: ['a', 7] }, 'input.0'],
    [{ input: [[1], 'a'] }, 'input.1'],
    [{ input: [[]] }, 'input.0'],
    [{ input: 'a', encoding_format: 'int8' }, 'encoding_format'],
    [{ input: 'a', dimensions: 0 }, 'dimensions'],
    [{ input: Array.from({ length: 2_049 }, () => 'a') }, 'input'],
  ])('refuses %j by its parameter', (body, param) => {
    expect(() => read(body)).toThrow(ApiError);
    try {
      read(body);
    } catch (error) {
      const { status, code, options } = error as ApiError;
      expect([status, code, options.param]).toEqual([422, 'validation_error', param]);
    }
  });

  it('sends the caller’s bytes with the provider’s names', () => {
    const body = { model: 'm', input: 'a', dimensions: 4, encoding_format: 'base64', odd: 1 };
    expect(sent(body)).toEqual({ ...body, model: 'embed-2' });
    expect(sent(body, { dimensionsParam: 'output_dimension', refuses: ['encoding_format'] })).toEqual({
      model: 'embed-2',
      input: 'a',
      output_dimension: 4,
      odd: 1,
    });
  });

  it('is a misfit by the parameter that a provider cannot carry', () => {
    expect(translation({ input: 'a', dimensions: 4 }, { refuses: ['dimensions'] })).toEqual(
      new Unsupported('dimensions'),
    );
    expect(translation({ input: [1, 2] })).toEqual(new Unsupported('input'));
    expect(translation({ input: [1, 2] }, { takesTokenIds: true })).not.toBeInstanceOf(Unsupported);
    expect(endpoint.translate(read({ input: 'a' }), { ...route(), dialect: 'chat' })).toEqual(
      new Unsupported(null),
    );
  });

  it('EMB-02 answers in the order of the inputs, with the fixed usage and without money', () => {
    const piece = answerTo(
      { input: ['a', 'b'] },
      listOf({ index: 1, embedding: [0.5] }, { index: 0, embedding: [0.25] }),
    );
    expect(piece).toMatchObject({ kind: 'end', usage: { prompt_tokens: 5, completion_tokens: 0 } });
    expect(JSON.parse(String(piece.out))).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [0.25] },
        { object: 'embedding', index: 1, embedding: [0.5] },
      ],
      model: 'acme/embed',
      odd: 1,
      usage: { prompt_tokens: 5, total_tokens: 5, byok_used: false, fallback_triggered: true },
    });
  });

  it('EMB-02 gives vectors in the form that was asked for, whichever came', () => {
    const vector = [0.5, -0.25, 1];
    for (const came of [vector, base64Of(...vector)]) {
      const of = (format: string): unknown => {
        const { out } = answerTo(
          { input: 'a', encoding_format: format },
          listOf({ index: 0, embedding: came }),
        );
        return (JSON.parse(String(out)) as { data: { embedding: unknown }[] }).data[0].embedding;
      };
      expect(of('float')).toEqual(vector);
      expect(of('base64')).toBe(base64Of(...vector));
    }
  });

  it.each([
    ['too few', listOf({ index: 0, embedding: [1] })],
    ['one twice', listOf({ index: 0, embedding: [1] }, { index: 0, embedding: [1] })],
    ['one of no input', listOf({ index: 0, embedding: [1] }, { index: 2, embedding: [1] })],
    ['no vector', listOf({ index: 0, embedding: [1] }, { index: 1, embedding: ['a'] })],
    ['an empty vector', listOf({ index: 0, embedding: [1] }, { index: 1, embedding: [] })],
    ['half a float', listOf({ index: 0, embedding: [1] }, { index: 1, embedding: 'AAA=' })],
  ])('reads an answer with %s as none', (_name, text) => {
    expect(answerTo({ input: ['a', 'b'] }, text).kind).toBe('failure');
  });

  it('leaves the input to the estimate where the provider counts nothing', () => {
    const piece = answerTo({ input: 'a' }, JSON.stringify({ data: [{ embedding: [1] }] }));
    expect(piece.usage).toBeUndefined();
    expect(JSON.parse(String(piece.out))).toMatchObject({ usage: { prompt_tokens: 0, total_tokens: 0 } });
  });

  it('shows no count that is not believed', () => {
    const doubting = { ...facts, believed: () => ({ completion_tokens: 0 }) };
    const head = { status: 200, contentType: 'application/json' };
    const answer = translated({ input: 'a' }).begin(head, doubting);
    const [{ out, usage }] = answer.push(Buffer.from(listOf({ embedding: [1] })));
    expect(JSON.parse(String(out))).toMatchObject({ usage: { prompt_tokens: 0, total_tokens: 0 } });
    expect(usage).toEqual({ prompt_tokens: 5, completion_tokens: 0 });
  });

  it('ends in one end or one failure, whatever bytes come', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(['end', 'failure']).toContain(answerTo({ input: 'a' }, text).kind);
      }),
    );
  });

  it('keeps any vector of 32-bit floats through base64 and back', () => {
    const floats = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), {
      minLength: 1,
      maxLength: 50,
    });
    fc.assert(
      fc.property(floats, (vector) => {
        const { out } = answerTo({ input: 'a' }, listOf({ index: 0, embedding: base64Of(...vector) }));
        const [{ embedding }] = (JSON.parse(String(out)) as { data: { embedding: number[] }[] }).data;
        // JSON has no -0.
        expect(embedding).toEqual(vector.map((value) => value + 0));
      }),
    );
  });
});

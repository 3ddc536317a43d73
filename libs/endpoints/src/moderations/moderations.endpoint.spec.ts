import { ApiError } from '@gateway/contracts';
import {
  Unsupported,
  type AnswerFacts,
  type Piece,
  type RouteTarget,
  type Translation,
} from '@gateway/dialects';
import fc from 'fast-check';
import type { Asked } from '../endpoint.js';
import { endpoint } from './moderations.endpoint.js';
import { wholeBody } from '../stored/stored-content-needed.js';

const route: RouteTarget = {
  dialect: 'moderations',
  upstreamModel: 'omni-2024',
  maxOutputTokens: 1,
  contextLength: 32_768,
  reasoning: { style: 'none' },
  fixesSampling: false,
  quirks: {},
};
const facts: AnswerFacts = {
  requestId: 'req_1',
  model: 'openai/omni-moderation-latest',
  created: 1_700_000_000,
  now: () => 1_700_000_001,
  answerId: () => 'modr_1',
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

function answerTo(text: string): Piece[] {
  const answer = translated({ input: 'a' }).begin({ status: 200, contentType: 'application/json' }, facts);
  return answer.push(Buffer.from(text));
}

function sent(body: unknown): unknown {
  return JSON.parse(Buffer.concat(translated(body).request.pieces).toString());
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

const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };

describe('the endpoint of moderations', () => {
  it.each([
    ['a text', 'wörd', 5, 0],
    ['a list of texts', ['ab', 'cde'], 5, 0],
    ['parts', [{ type: 'text', text: 'abc' }, image, image], 3, 2],
  ])('counts %s', (_name, input, inputBytes, inputImages) => {
    const asked = read({ input });
    expect(asked.input).toMatchObject({ inputBytes, inputImages });
    expect(asked.requires).toHaveLength(inputImages > 0 ? 1 : 0);
    expect(asked).toMatchObject({ maxOutputTokens: 0, stream: false });
  });

  it('takes OpenAI’s default model where none is named', () => {
    expect(read({ input: 'a' }).model).toBe('omni-moderation-latest');
    expect(read({ input: 'a', model: 'acme/judge' }).model).toBe('acme/judge');
  });

  it.each([
    [{}, 'input'],
    [{ input: [] }, 'input'],
    [{ input: 7 }, 'input'],
    [{ input: ['a', 7] }, 'input.1'],
    [{ input: [{ type: 'text' }] }, 'input.0.text'],
    [{ input: [{ type: 'sound', sound: 'a' }] }, 'input.0.type'],
    [{ input: [{ type: 'image_url', image_url: { url: 'http://a.test/a.png' } }] }, 'input.0.image_url.url'],
    [{ input: [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }] }, 'input.0.image_url.url'],
    [{ input: 'a', model: 7 }, 'model'],
    [{ input: Array.from({ length: 2_049 }, () => 'a') }, 'input'],
  ])('refuses %j by its parameter', (body, param) => {
    const error = rejection(body);
    expect([error.status, error.code, error.options.param]).toEqual([422, 'validation_error', param]);
  });

  it('sends the caller’s bytes with the provider’s model, and members that nobody knows', () => {
    expect(sent({ model: 'm', input: ['a'], odd: 1 })).toEqual({ model: 'omni-2024', input: ['a'], odd: 1 });
    expect(translated({ input: 'a' }).request.path).toBe('/moderations');
  });

  it('gives back results as they are, under the catalogue’s name and without money', () => {
    const results = [{ flagged: true, categories: { violence: true }, category_scores: { violence: 0.9 } }];
    const [piece] = answerTo(JSON.stringify({ id: 'modr-1', model: 'x', results, odd: 1, cost: 2 }));
    expect(piece).toMatchObject({ kind: 'end', usage: { completion_tokens: 0 } });
    expect(JSON.parse(String(piece.out))).toEqual({ id: 'modr-1', model: facts.model, results, odd: 1 });
  });

  it('ends in one end or one failure, whatever bytes come', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const pieces = answerTo(text);
        expect(pieces.map(({ kind }) => kind === 'end' || kind === 'failure')).toEqual([true]);
      }),
    );
  });

  it('has no way to a route of another dialect', () => {
    expect(endpoint.translate(read({ input: 'a' }) as never, { ...route, dialect: 'chat' })).toEqual(
      new Unsupported(null),
    );
  });
});

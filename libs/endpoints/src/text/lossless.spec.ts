import fc from 'fast-check';
import { Unsupported, type AnswerFacts, type RouteTarget, type Translation } from '@gateway/dialects';
import { anyJsonText, tokensOf } from '@gateway/testing';
import type { Endpoint } from '../endpoint.js';
import { ENDPOINTS } from '../registry.generated.js';
import { ANSWERS, ASKING, jsonAt, SENT, shownPlain, shownStream, valueAt } from './lossless.fixture.js';
import { wholeBody } from '../stored/stored-content-needed.js';

/** Documents in all; LOSSLESS_DOCUMENTS=100000 is the drill. */
const DOCUMENTS = Number(process.env.LOSSLESS_DOCUMENTS ?? 420);

const facts: AnswerFacts = {
  requestId: 'req_1',
  model: 'acme/large',
  created: 1_700_000_000,
  now: () => 1_700_000_001,
  answerId: () => 'own_1',
  tier: 'default',
  byokUsed: false,
  fallbackTriggered: false,
  believed: (reported) => reported,
};
const CALLERS = ENDPOINTS.filter(({ paths: [path] }) => Object.hasOwn(ASKING, path));
const ROADS = CALLERS.flatMap((endpoint) =>
  Object.keys(SENT).flatMap((dialect) =>
    [false, true].map(
      (stream) => [endpoint.paths[0], dialect, stream ? 'streamed' : 'plain', endpoint] as const,
    ),
  ),
);
const numRuns = Math.ceil(DOCUMENTS / ROADS.length);

const target = (dialect: string): RouteTarget => ({
  dialect,
  upstreamModel: 'large-2026',
  maxOutputTokens: 8_192,
  contextLength: 128_000,
  reasoning: { style: 'effort' },
  fixesSampling: false,
  quirks: {},
});

function translation(endpoint: Endpoint, dialect: string, body: string): Translation {
  const asked = wholeBody(endpoint.read({ bytes: Buffer.from(body), headers: {} }));
  const found = endpoint.translate(asked, target(dialect));
  if (found instanceof Unsupported) throw new Error(`a misfit by ${found.param}`);
  return found;
}

function sentBy({ request }: Translation): string[] {
  return tokensOf(Buffer.concat(request.pieces).toString('utf8'));
}

/** Cohere takes no schema of an answer beside tools. */
function asked(path: string, dialect: string, json: string, stream: boolean): string {
  const body = ASKING[path](json, stream);
  return SENT[dialect].format === null
    ? body.replace(/,"(response_format|output_config|text)":\{.*\}\}$/s, '}')
    : body;
}

describe.each(ROADS)('JSON from %s to an upstream of %s and back, %s', (path, dialect, mode, endpoint) => {
  const isStream = mode === 'streamed';

  it('keeps every number, the order and the repetition of names of what callers and models wrote', () => {
    fc.assert(
      fc.property(anyJsonText(), ({ text }) => {
        const tokens = tokensOf(text);
        const road = translation(endpoint, dialect, asked(path, dialect, text, isStream));
        const sent = sentBy(road);
        const { input, result, schema, format } = SENT[dialect];
        expect(jsonAt(sent, input)).toEqual(tokens);
        expect(jsonAt(sent, result)).toEqual(tokens);
        expect(jsonAt(sent, schema)).toEqual(tokens);
        if (format !== null) expect(jsonAt(sent, format)).toEqual(tokens);
        const { plain, stream } = ANSWERS[dialect];
        for (const answerOf of plain) {
          const answer = road.begin({ status: 200, contentType: 'application/json' }, facts);
          const [{ out }] = answer.push(Buffer.from(answerOf(text)));
          const shown = String(out);
          expect(isStream ? shownStream(path, shown) : shownPlain(path, shown)).toEqual(tokens);
          if (path === '/responses' && !isStream)
            expect(jsonAt(tokensOf(shown), SENT.responses.schema)).toEqual(tokens);
          if (endpoint.paths[0] === NATIVE[dialect] && !isStream) expectOwn(shown, tokens);
        }
        for (const streamOf of isStream ? stream : []) {
          const { contentType, bytes } = streamOf(text);
          const answer = road.begin({ status: 200, contentType }, facts);
          const pieces = [...answer.push(bytes), ...answer.end()];
          const shown = pieces.map(({ out }) => String(out)).join('');
          expect(shownStream(path, shown)).toEqual(tokens);
          if (path === '/chat/completions' && dialect === 'chat') expectOwnDelta(shown, tokens);
        }
      }),
      { numRuns },
    );
  });
});

describe('F1 a seed that no double holds', () => {
  it.each([
    ['chat', {}, 'seed'],
    ['chat', { seedParam: 'random_seed' }, 'random_seed'],
    ['ollama', {}, 'seed'],
  ])('is sent to %s with %j as %s, every digit of it', (dialect, quirks, name) => {
    const [chat] = CALLERS.filter(({ paths: [path] }) => path === '/chat/completions');
    const body = '{"model":"m","messages":[{"role":"user","content":"x"}],"seed":1234567890123456789}';
    const asked = wholeBody(chat.read({ bytes: Buffer.from(body), headers: {} }));
    const found = chat.translate(asked, { ...target(dialect), quirks });
    if (found instanceof Unsupported) throw new Error(`a misfit by ${found.param}`);
    expect(sentBy(found).join('')).toContain(`"${name}":1234567890123456789`);
  });
});

const NATIVE: Readonly<Record<string, string>> = {
  chat: '/chat/completions',
  messages: '/messages',
  responses: '/responses',
};

/** Members of the provider's own. */
function expectOwn(shown: string, tokens: string[]): void {
  const answer = tokensOf(shown);
  expect(valueAt(answer, ['own_answer'])).toEqual(tokens);
  expect(valueAt(answer, ['own_number'])).toEqual(['1.0']);
  if (valueAt(answer, ['choices']).length === 0) return;
  for (const at of [['own_choice'], ['message', 'own_message'], ['message', 'tool_calls', 0, 'own_call']])
    expect(valueAt(answer, ['choices', 0, ...at])).toEqual(tokens);
}

function expectOwnDelta(shown: string, tokens: string[]): void {
  const frames = [...shown.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => tokensOf(data));
  const places = [['own_answer'], ['choices', 0, 'own_choice'], ['choices', 0, 'delta', 'own_message']];
  for (const at of places) {
    const found = frames.map((frame) => valueAt(frame, at)).find((value) => value.length > 0);
    expect(found).toEqual(tokens);
  }
}

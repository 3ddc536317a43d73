import { Unsupported, type AnswerFacts, type RouteTarget } from '@gateway/dialects';
import { ENDPOINTS } from '../registry.generated.js';
import { wholeBody } from '../stored/stored-content-needed.js';

type Json = Record<string, unknown>;

const MESSAGES = ENDPOINTS.find(({ paths: [path] }) => path === '/messages');
const facts: AnswerFacts = {
  requestId: 'req_1',
  model: 'acme/large',
  created: 1_700_000_000,
  now: () => 1_700_000_001,
  answerId: () => 'msg_1',
  tier: 'default',
  byokUsed: false,
  fallbackTriggered: false,
  believed: (reported) => reported,
};

function targetOf(dialect: string, upstreamModel: string): RouteTarget {
  return {
    dialect,
    upstreamModel,
    maxOutputTokens: 8_192,
    contextLength: 128_000,
    reasoning: { style: 'none' },
    fixesSampling: false,
    quirks: {},
  };
}

/** The answer to a messages request with these stop sequences: what the caller reads, and what the upstream was asked. */
function answered(
  target: RouteTarget,
  upstream: Json | Json[],
  stop_sequences: string[],
): { asked: Json; told: unknown } {
  const stream = Array.isArray(upstream);
  const body = {
    model: 'm',
    max_tokens: 9,
    stream,
    stop_sequences,
    messages: [{ role: 'user', content: 'hi' }],
  };
  if (!MESSAGES) throw new Error('no endpoint');
  const request = wholeBody(MESSAGES.read({ bytes: Buffer.from(JSON.stringify(body)), headers: {} }));
  const translation = MESSAGES.translate(request, target);
  if (translation instanceof Unsupported) throw new Error(`a misfit by ${translation.param}`);
  const asked = JSON.parse(Buffer.concat(translation.request.pieces).toString('utf8')) as Json;
  const contentType = stream ? 'text/event-stream' : 'application/json';
  const answer = translation.begin({ contentType, status: 200, headers: {} }, facts);
  const frames = stream
    ? [...upstream.map((frame) => `data: ${JSON.stringify(frame)}\n\n`), 'data: [DONE]\n\n']
    : [JSON.stringify(upstream)];
  const out = frames
    .flatMap((frame) => answer.push(Buffer.from(frame)))
    .map((piece) => String(piece.out))
    .join('');
  const stop = (said: Json): unknown => [said.stop_reason, said.stop_sequence];
  if (!stream) return { asked, told: stop(JSON.parse(out) as Json) };
  const delta = /event: message_delta\ndata: (.*)/.exec(out)?.[1] ?? '{}';
  return { asked, told: stop((JSON.parse(delta) as { delta: Json }).delta) };
}

const chat = (more: Json, beside: Json = {}): Json => ({
  id: 'c',
  choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop', ...more }],
  ...beside,
});
const chunks = (more: Json, beside: Json = {}): Json[] => [
  { id: 'c', choices: [{ index: 0, delta: { content: 'Hi' } }] },
  { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop', ...more }], ...beside },
];

describe('the stop sequence that matched', () => {
  const target = targetOf('chat', 'm');
  const ENDED = ['end_turn', null];

  it.each<[string, Json, Json, unknown]>([
    ['vLLM', { stop_reason: 'END' }, {}, ['stop_sequence', 'END']],
    ['SGLang', { matched_stop: 'END' }, {}, ['stop_sequence', 'END']],
    ['llama.cpp', {}, { __verbose: { stopping_word: 'END' } }, ['stop_sequence', 'END']],
    ['a server that names a token', { stop_reason: 128_009 }, {}, ENDED],
    ['a server that names a reason', { stop_reason: 'end_turn' }, {}, ENDED],
    ['a server that says nothing', {}, {}, ENDED],
    ['an answer that was cut', { stop_reason: 'END', finish_reason: 'length' }, {}, ['max_tokens', 'END']],
  ])('of %s is told, plain and streamed', (_server, more, beside, told) => {
    expect(answered(target, chat(more, beside), ['END', 'STOP']).told).toEqual(told);
    expect(answered(target, chunks(more, beside), ['END', 'STOP']).told).toEqual(told);
  });

  it('is the only one where TGI says that one did', () => {
    const finish = { finish_reason: 'stop_sequence' };
    expect(answered(target, chat(finish), ['END']).told).toEqual(['stop_sequence', 'END']);
    expect(answered(target, chunks(finish), ['END']).told).toEqual(['stop_sequence', 'END']);
  });

  it('is asked for where Claude on Bedrock is', () => {
    const output = { message: { role: 'assistant', content: [{ text: 'Hi' }] } };
    const plain = {
      output,
      stopReason: 'stop_sequence',
      additionalModelResponseFields: { stop_sequence: 'END' },
    };
    const claude = answered(targetOf('converse', 'anthropic.claude-5'), plain, ['END', 'STOP']);
    expect(claude.told).toEqual(['stop_sequence', 'END']);
    expect(claude.asked.additionalModelResponseFieldPaths).toEqual(['/stop_sequence']);
    const nova = answered(targetOf('converse', 'amazon.nova-2'), plain, ['END']);
    expect(nova.asked.additionalModelResponseFieldPaths).toBeUndefined();
  });
});

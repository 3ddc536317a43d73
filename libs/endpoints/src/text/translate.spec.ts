import { ApiError } from '@gateway/contracts';
import {
  Unsupported,
  type AnswerFacts,
  type Piece,
  type RouteTarget,
  type Translation,
} from '@gateway/dialects';
import fc from 'fast-check';
import type { Endpoint } from '../endpoint.js';
import { ENDPOINTS } from '../registry.generated.js';
import { wholeBody } from '../stored/stored-content-needed.js';

const target = (dialect: string): RouteTarget => ({
  dialect,
  upstreamModel: 'large-2026',
  maxOutputTokens: 8_192,
  contextLength: 128_000,
  reasoning: { style: 'effort' },
  fixesSampling: false,
  quirks: {},
});

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

const TEXT: readonly Endpoint[] = ENDPOINTS.filter(({ paths: [path] }) =>
  ['/chat/completions', '/messages'].includes(path),
);
const ROADS = TEXT.flatMap((endpoint) =>
  ['chat', 'messages'].flatMap((dialect) =>
    [false, true].map((stream) => [endpoint.paths[0], dialect, stream, endpoint] as const),
  ),
);

function translation(endpoint: Endpoint, dialect: string, more: object): Translation | Unsupported {
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...more };
  const asked = wholeBody(endpoint.read({ bytes: Buffer.from(JSON.stringify(body)), headers: {} }));
  return endpoint.translate(asked, target(dialect));
}

function served(endpoint: Endpoint, dialect: string, more: object): Translation {
  const found = translation(endpoint, dialect, more);
  if (found instanceof Unsupported) throw new Error(`a misfit by ${found.param}`);
  return found;
}

const plainOf: Record<string, object> = {
  chat: {
    id: 'chatcmpl-1',
    choices: [{ index: 0, message: { content: 'Hi', odd: 1 }, finish_reason: 'stop' }],
    odd: { a: 1 },
    cost: 3,
  },
  messages: {
    id: 'msg_1',
    type: 'message',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    odd: { a: 1 },
  },
};
const JSON_HEAD = { status: 200, contentType: 'application/json' };
const STREAM_HEAD = { status: 200, contentType: 'text/event-stream' };

describe.each(ROADS)('%s from an upstream of %s, stream %s', (_path, dialect, stream, endpoint) => {
  it('gives one piece for a plain answer: its end, with what was delivered, and 0 for what was not reported', () => {
    const answer = served(endpoint, dialect, { stream }).begin(JSON_HEAD, facts);
    expect(answer.isWhole).toBe(true);
    const pieces = answer.push(Buffer.from(JSON.stringify(plainOf[dialect])));
    expect(pieces).toHaveLength(1);
    expect(pieces[0]).toMatchObject({ kind: 'end', deliveredBytes: 2, finishSeen: true });
    expect(String(pieces[0].out)).toContain('Hi');
    expect(answer.headers['content-type']).toContain(stream ? 'text/event-stream' : 'application/json');
    const counts = /"(?:completion|output)_tokens":0/;
    expect(String(pieces[0].out)).toMatch(counts);
  });

  it('ends in exactly one end or failure, whatever bytes come', () => {
    const kinds = (pieces: Piece[]): string[] =>
      pieces.map(({ kind }) => kind).filter((kind) => kind === 'end' || kind === 'failure');
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const whole = served(endpoint, dialect, { stream }).begin(JSON_HEAD, facts);
        expect(kinds(whole.push(Buffer.from(text)))).toHaveLength(1);
        const streamed = served(endpoint, dialect, { stream: true }).begin(STREAM_HEAD, facts);
        const pieces = [...streamed.push(Buffer.from(`data: ${text}\n\n`)), ...streamed.end()];
        expect(kinds(pieces)).toHaveLength(1);
      }),
    );
  });

  it('reads an answer that is not a JSON object as a failure', () => {
    const answer = served(endpoint, dialect, { stream }).begin(JSON_HEAD, facts);
    for (const text of ['', '<html>', '[]', 'null'])
      expect(answer.push(Buffer.from(text))).toMatchObject([
        { kind: 'failure', failure: { kind: 'bad_response' } },
      ]);
  });
});

describe('a text translation', () => {
  const [chat, messages] = TEXT;

  it('U13 keeps members that nobody knows in one dialect, and drops what names money', () => {
    for (const [endpoint, dialect] of [
      [chat, 'chat'],
      [messages, 'messages'],
    ] as const) {
      const answer = served(endpoint, dialect, {}).begin(JSON_HEAD, facts);
      const [piece] = answer.push(Buffer.from(JSON.stringify(plainOf[dialect])));
      const text = String(piece.out);
      expect(JSON.parse(text)).toMatchObject({ model: 'acme/large', odd: { a: 1 } });
      expect(text).not.toContain('cost');
    }
  });

  it('commits with the first content: a ping says nothing, and message_start only opens', () => {
    const answer = served(messages, 'messages', { stream: true }).begin(STREAM_HEAD, facts);
    expect(answer.push(Buffer.from('event: ping\ndata: {"type":"ping"}\n\n'))).toMatchObject([
      { kind: 'wait' },
    ]);
    const start = '{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":3}}}';
    expect(answer.push(Buffer.from(`event: message_start\ndata: ${start}\n\n`))).toMatchObject([
      { kind: 'opening', usage: { prompt_tokens: 3 } },
    ]);
    const block = '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}';
    expect(answer.push(Buffer.from(`data: ${block}\n\n`))).toMatchObject([{ kind: 'wait' }]);
    const delta = '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}';
    expect(answer.push(Buffer.from(`data: ${delta}\n\n`))).toMatchObject([{ kind: 'part' }]);
  });

  it('parts what came before a failure in the same bytes from the failure', () => {
    const answer = served(chat, 'chat', { stream: true }).begin(STREAM_HEAD, facts);
    const chunk = '{"id":"a","choices":[{"index":0,"delta":{"content":"Hi"}}]}';
    const bytes = Buffer.from(`data: ${chunk}\n\ndata: {"error":{"message":"no"}}\n\n`);
    expect(answer.push(bytes)).toMatchObject([
      { kind: 'part', deliveredBytes: 2 },
      { kind: 'failure', failure: { kind: 'in_band', message: 'no' } },
    ]);
    expect(answer.fail(new ApiError('upstream_error', { message: 'gone' }))).toContain('gone');
  });

  it('is a misfit by the caller’s parameter where the route’s dialect has no words for it', () => {
    expect(translation(chat, 'messages', { n: 2 })).toEqual(new Unsupported('n'));
    expect(translation(chat, 'chat', { n: 2 })).not.toBeInstanceOf(Unsupported);
    expect(
      translation(messages, 'chat', { mcp_servers: [{ type: 'url', url: 'https://a.example', name: 'a' }] }),
    ).toEqual(new Unsupported('mcp_servers'));
    expect(translation(chat, 'images', {})).toEqual(new Unsupported(null));
  });

  it('reserves for a write to the cache wherever a marker stands, of the whole request, too', () => {
    const writes = (endpoint: Endpoint, more: object): boolean => {
      const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...more };
      return wholeBody(endpoint.read({ bytes: Buffer.from(JSON.stringify(body)), headers: {} })).writesCache;
    };
    const cache_control = { type: 'ephemeral' };
    const content = [{ type: 'text', text: 'sun', cache_control }];
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] };
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content }] };
    const asked = { role: 'user', content: 'hi' };
    expect(writes(messages, {})).toBe(false);
    expect(writes(messages, { cache_control })).toBe(true);
    expect(writes(messages, { messages: [asked, call, result] })).toBe(true);
    expect(writes(messages, { system: content })).toBe(true);
    expect(writes(chat, {})).toBe(false);
    expect(writes(chat, { messages: [{ role: 'user', content }] })).toBe(true);
  });

  it('makes the upstream’s body once, when it is first asked for', () => {
    const made = served(chat, 'messages', {});
    expect(made.request).toBe(made.request);
    expect(made.request.path).toBe('/messages');
  });
});

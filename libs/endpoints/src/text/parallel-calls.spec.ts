import { Unsupported, type AnswerFacts, type RouteTarget, type Translation } from '@gateway/dialects';
import type { Endpoint } from '../endpoint.js';
import { ENDPOINTS } from '../registry.generated.js';
import { wholeBody } from '../stored/stored-content-needed.js';

type Json = Record<string, unknown>;

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
const target = (dialect: string): RouteTarget => ({
  dialect,
  upstreamModel: 'large-2026',
  maxOutputTokens: 8_192,
  contextLength: 128_000,
  reasoning: { style: 'effort' },
  fixesSampling: false,
  quirks: {},
});
const CALLERS = ['/chat/completions', '/messages', '/responses'];
const DIALECTS = ['chat', 'messages', 'responses', 'gemini', 'converse', 'ollama', 'cohere'];

function endpointOf(path: string): Endpoint {
  const found = ENDPOINTS.find(({ paths }) => paths.includes(path));
  if (!found) throw new Error(path);
  return found;
}

function road(path: string, dialect: string, body: Json): Translation {
  const endpoint = endpointOf(path);
  const asked = wholeBody(
    endpoint.read({ bytes: Buffer.from(JSON.stringify({ model: 'm', ...body })), headers: {} }),
  );
  const found = endpoint.translate(asked, target(dialect));
  if (found instanceof Unsupported) throw new Error(`a misfit by ${found.param}`);
  return found;
}

const FIRST = '{"city":"A"}';
const SECOND = '{"city":"B"}';
const user = { role: 'user', content: 'hi' };
const started = (path: string): Json =>
  path === '/responses' ? { input: [user] } : { max_tokens: 9, messages: [user] };

/** Plain answers with two calls under one id; none where the format has no ids. */
const plain = (id: string): Record<string, Json> => {
  const call = (input: unknown): Json => ({
    id,
    type: 'function',
    function: { name: 'look', arguments: input },
  });
  return {
    chat: {
      id: 'c',
      choices: [{ message: { tool_calls: [call(FIRST), call(SECOND)] }, finish_reason: 'tool_calls' }],
    },
    messages: {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', stop_reason: 'tool_use' },
      content: [FIRST, SECOND].map((input) => ({
        type: 'tool_use',
        id,
        name: 'look',
        input: JSON.parse(input) as Json,
      })),
    },
    responses: {
      ...{ id: 'resp_1', object: 'response', status: 'completed' },
      output: [FIRST, SECOND].map((text) => ({
        type: 'function_call',
        call_id: id,
        name: 'look',
        arguments: text,
      })),
    },
    gemini: {
      candidates: [
        {
          content: {
            parts: [FIRST, SECOND].map((args) => ({
              functionCall: { id, name: 'look', args: JSON.parse(args) as Json },
            })),
          },
          finishReason: 'STOP',
        },
      ],
    },
    converse: {
      output: {
        message: {
          content: [FIRST, SECOND].map((input) => ({
            toolUse: { toolUseId: id, name: 'look', input: JSON.parse(input) as Json },
          })),
        },
      },
      stopReason: 'tool_use',
    },
    ollama: {
      message: { content: '', tool_calls: [FIRST, SECOND].map((text) => call(JSON.parse(text))) },
      done: true,
    },
    cohere: { id: 'c', message: { tool_calls: [call(FIRST), call(SECOND)] }, finish_reason: 'TOOL_CALL' },
  };
};

interface Call {
  id: unknown;
  input: string;
}

/** Calls of a caller's plain answer. */
function callsOf(path: string, answer: Json): Call[] {
  const list = (value: unknown): Json[] => (value ?? []) as Json[];
  if (path === '/messages')
    return list(answer.content).map(({ id, input }) => ({ id, input: JSON.stringify(input) }));
  if (path === '/responses')
    return list(answer.output).map(({ call_id: id, arguments: input }) => ({ id, input: String(input) }));
  const [{ message }] = list(answer.choices) as { message: Json }[];
  return list(message.tool_calls).map(({ id, function: body }) => ({
    id,
    input: String((body as Json).arguments),
  }));
}

/** The history that a caller sends back after an answer. */
function history(path: string, calls: readonly Call[], before: readonly Json[] = []): Json[] {
  const results = calls.map(({ id, input }) => ({ id, text: `result of ${input}` }));
  if (path === '/messages')
    return [
      ...before,
      {
        role: 'assistant',
        content: calls.map(({ id, input }) => ({
          type: 'tool_use',
          id,
          name: 'look',
          input: JSON.parse(input) as Json,
        })),
      },
      {
        role: 'user',
        content: results.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text })),
      },
    ];
  if (path === '/responses')
    return [
      ...before,
      ...calls.map(({ id, input }) => ({
        type: 'function_call',
        call_id: id,
        name: 'look',
        arguments: input,
      })),
      ...results.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text })),
    ];
  return [
    ...before,
    {
      role: 'assistant',
      content: null,
      tool_calls: calls.map(({ id, input }) => ({
        id,
        type: 'function',
        function: { name: 'look', arguments: input },
      })),
    },
    ...results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
  ];
}

function shown(path: string, dialect: string, body: Json, id: string): Call[] {
  const answer = road(path, dialect, body).begin({ status: 200, contentType: 'application/json' }, facts);
  const [{ out }] = answer.push(Buffer.from(JSON.stringify(plain(id)[dialect])));
  return callsOf(path, JSON.parse(String(out)) as Json);
}

const ROADS = CALLERS.flatMap((path) => DIALECTS.map((dialect) => [path, dialect] as const)).filter(
  // Its items go on as they came.
  ([path, dialect]) => path !== '/responses' || dialect !== 'responses',
);

describe.each(ROADS)('parallel calls under one id, shown by %s from an upstream of %s', (path, dialect) => {
  it.each(['call_1', ''])('are two calls with their own ids and arguments (id %j), also over turns', (id) => {
    const first = shown(path, dialect, started(path), id);
    expect(first.map(({ input }) => input)).toEqual([FIRST, SECOND]);
    const member = path === '/responses' ? 'input' : 'messages';
    const turns = history(path, first, [user]);
    const body = { ...started(path), [member]: [...turns, ...(path === '/messages' ? [] : [user])] };
    const second = shown(path, dialect, body, id);
    expect(second.map(({ input }) => input)).toEqual([FIRST, SECOND]);
    const ids = [...first, ...second].map((call) => call.id);
    expect(new Set(ids).size).toBe(4);
    expect(ids.every((one) => typeof one === 'string' && one !== '')).toBe(true);
    const again = road(path, dialect, { ...body, [member]: history(path, second, turns) });
    const sent = Buffer.concat(again.request.pieces).toString('utf8');
    // Each result stands there, and nothing was refused.
    expect(sent.match(/result of/g)).toHaveLength(4);
  });
});

describe('calls of one id in a stream of chat completions', () => {
  const frames = (...deltas: Json[]): Buffer =>
    Buffer.from(
      [
        ...deltas.map((delta) => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta }] })}\n\n`),
        'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n',
      ].join(''),
    );
  const call = (text: string, more: Json = {}): Json => ({
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: text }, ...more }],
  });
  const streamed = (bytes: Buffer): string => {
    const asked = { ...started('/messages'), stream: true };
    const answer = road('/messages', 'chat', asked).begin(
      { status: 200, contentType: 'text/event-stream' },
      facts,
    );
    return [...answer.push(bytes), ...answer.end()].map(({ out }) => String(out)).join('');
  };

  it.each([
    ['with an index', frames(call(FIRST, { index: 0 }), call(SECOND, { index: 1 }))],
    ['without one', frames(call(FIRST), call(SECOND))],
    ['all of index 0', frames(call(FIRST, { index: 0 }), call(SECOND, { index: 0 }))],
  ])('%s are two calls with their own ids and arguments', (_, bytes) => {
    const text = streamed(bytes);
    expect(text.match(/"id":"toolu_via_call_1\w*"/g)).toEqual([
      '"id":"toolu_via_call_1"',
      '"id":"toolu_via_call_1_2"',
    ]);
    expect(text.match(/"partial_json":"[^}]*}"/g)).toHaveLength(2);
  });

  it('are one call where the id and the name come with each piece of its arguments', () => {
    const text = streamed(frames(call('{"city"'), call(':"A"}')));
    expect(text.match(/"id":"toolu_via_call_1\w*"/g)).toHaveLength(1);
  });
});

it('a history of chat completions with one id for two calls is taken, and each result finds its call', () => {
  const calls = [FIRST, SECOND].map((input) => ({ id: 'call_1', input }));
  const body = { ...started('/chat/completions'), messages: history('/chat/completions', calls, [user]) };
  const { request } = road('/chat/completions', 'messages', body);
  const { messages } = JSON.parse(Buffer.concat(request.pieces).toString('utf8')) as {
    messages: { content: Json[] }[];
  };
  expect(messages[1].content.map(({ id }) => id)).toEqual(['call_1', 'call_1_2']);
  expect(messages[2].content.map(({ tool_use_id }) => tool_use_id)).toEqual(['call_1', 'call_1_2']);
});

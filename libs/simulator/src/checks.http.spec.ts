import { request } from 'undici';
import { at, bodyOf, CREDENTIALS, post } from './spec-client.js';
import { startUpstreamSim, type UpstreamSim } from './upstream-sim.js';

let sim: UpstreamSim;
beforeAll(async () => (sim = await startUpstreamSim()));
afterAll(() => sim.close());

const user = (content: unknown): object => ({ role: 'user', content });
const callOf = (id: string): object => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
});
const answerOf = (id: string): object => ({ role: 'tool', tool_call_id: id, content: 'r' });
const useOf = (id: string): object => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name: 'f', input: {} }],
});
const resultOf = (id: string): object => ({ type: 'tool_result', tool_use_id: id, content: 'r' });
const cached = (ttl?: string): object => ({
  type: 'text',
  text: 'x',
  cache_control: { type: 'ephemeral', ...(ttl ? { ttl } : {}) },
});
const TOOL = { name: 'f', input_schema: { type: 'object' } };
const THINK = { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 2_000 };

describe('OpenAI refuses', () => {
  it.each<[string, object, string | null, string]>([
    [
      'an unknown top-level parameter',
      { reasoning: {} },
      'unknown_parameter',
      "Unknown parameter: 'reasoning'.",
    ],
    [
      'an unknown message key',
      { messages: [{ ...user('a'), reasoning: 'b' }] },
      'unknown_parameter',
      'messages[0].reasoning',
    ],
    [
      'max_tokens on a reasoning model',
      { model: 'sim-chat-reasoning', max_tokens: 5 },
      'unsupported_parameter',
      'max_completion_tokens',
    ],
    ['stream_options without stream', { stream_options: {} }, null, 'stream_options'],
    ['top_logprobs without logprobs', { top_logprobs: 2 }, null, 'top_logprobs'],
    [
      'temperature with top_p on strict models',
      { model: 'sim-chat-strict', temperature: 1, top_p: 1 },
      'unsupported_parameter',
      'top_p',
    ],
    ['a temperature above 2', { temperature: 3 }, 'decimal_above_max_value', 'temperature'],
    ['no output tokens', { max_completion_tokens: 0 }, 'integer_below_min_value', 'max_completion_tokens'],
    [
      'a nameless schema',
      { response_format: { type: 'json_schema', json_schema: {} } },
      'missing_required_parameter',
      'name',
    ],
    ['an empty tool list', { tools: [] }, 'empty_array', 'tools'],
    [
      'a tool name with a dot',
      { tools: [{ type: 'function', function: { name: 'a.b' } }] },
      'invalid_value',
      'name',
    ],
    ['a choice without tools', { tool_choice: 'auto' }, null, 'tool_choice'],
    ['a tool message without its call', { messages: [user('a'), answerOf('c1')] }, null, "role 'tool'"],
    [
      'a call without its tool message',
      { messages: [user('a'), callOf('c1'), user('b')] },
      null,
      'did not have response messages: c1',
    ],
    ['a call at the end', { messages: [user('a'), callOf('c1')] }, null, 'c1'],
    ['an unknown role', { messages: [{ role: 'robot', content: 'a' }] }, 'invalid_value', 'robot'],
    ['no content', { messages: [{ role: 'user', content: null }] }, null, 'got null'],
    ['no message', { messages: [] }, 'empty_array', 'messages'],
    ['no model', { model: undefined }, null, 'model'],
  ])('%s', async (_title, over, code, words) => {
    const { status, json } = await post(sim, 'chat', over);
    expect([status, at(json, 'error', 'type'), at(json, 'error', 'code')]).toEqual([
      400,
      'invalid_request_error',
      code,
    ]);
    expect(at(json, 'error', 'message')).toContain(words);
  });

  it('a request without a bearer token, and a key named invalid', async () => {
    expect((await post(sim, 'chat', {}, { authorization: 'Basic x' })).status).toBe(401);
    const { status, json } = await post(sim, 'chat', {}, { authorization: 'Bearer sk-invalid' });
    expect([status, at(json, 'error', 'code')]).toEqual([401, 'invalid_api_key']);
  });

  it('nothing of a right tool loop, nor of unknown keys on a model named compat', async () => {
    const loop = { messages: [user('a'), callOf('c1'), answerOf('c1'), user('b')] };
    expect((await post(sim, 'chat', loop)).status).toBe(200);
    expect((await post(sim, 'chat', { model: 'sim-compat', top_k: 4 })).status).toBe(200);
  });

  it('a body that is no JSON object', async () => {
    const answer = await request(`${sim.url}/v1/chat/completions`, {
      method: 'POST',
      headers: CREDENTIALS.chat,
      body: '{"a":',
    });
    expect([answer.statusCode, await answer.body.json()]).toMatchObject([
      400,
      { error: { type: 'invalid_request_error' } },
    ]);
  });
});

describe('Anthropic refuses', () => {
  it.each<[string, object, string]>([
    ['a missing max_tokens', { max_tokens: undefined }, 'max_tokens: Field required'],
    [
      'an unknown field',
      { max_completion_tokens: 3 },
      'max_completion_tokens: Extra inputs are not permitted',
    ],
    ['an unknown message key', { messages: [{ ...user('a'), name: 'b' }] }, 'messages.0.name'],
    [
      'an unknown block key',
      { messages: [user([{ type: 'text', text: 'a', detail: 1 }])] },
      'messages.0.content.0.text.detail',
    ],
    ['a role it does not know', { messages: [{ role: 'tool', content: 'a' }] }, 'messages.0.role'],
    ['an empty text block', { messages: [user([{ type: 'text', text: '' }])] }, 'non-empty'],
    ['a blank text block', { messages: [user([{ type: 'text', text: ' \n' }])] }, 'non-whitespace'],
    ['an empty system block', { system: [{ type: 'text', text: '' }] }, 'system.0'],
    ['empty content', { messages: [user([])] }, 'non-empty content'],
    [
      'a tool id with a colon',
      { messages: [user('a'), useOf('f:0'), user([resultOf('f:0')])] },
      "'^[a-zA-Z0-9_-]+$'",
    ],
    ['a result without its use', { messages: [user([resultOf('t1')])] }, 'unexpected `tool_use_id`'],
    ['a use without its result', { messages: [user('a'), useOf('t1'), user('b')] }, 'without `tool_result`'],
    [
      'a result behind text',
      { messages: [user('a'), useOf('t1'), user([{ type: 'text', text: 'b' }, resultOf('t1')])] },
      'without `tool_result`',
    ],
    ['a budget not below max_tokens', { ...THINK, max_tokens: 1_024 }, '`max_tokens` must be greater'],
    [
      'a budget below 1024',
      { thinking: { type: 'enabled', budget_tokens: 100 } },
      'greater than or equal to 1024',
    ],
    [
      'a forced tool with thinking',
      { ...THINK, tools: [TOOL], tool_choice: { type: 'any' } },
      'forces tool use',
    ],
    ['a temperature with thinking', { ...THINK, temperature: 0.5 }, '`temperature` may only be set to 1'],
    [
      'a tool loop with thinking but without the thought',
      { ...THINK, messages: [user('a'), useOf('t1'), user([resultOf('t1')])] },
      'Expected `thinking`',
    ],
    [
      'a thought without signature',
      { messages: [user('a'), { role: 'assistant', content: [{ type: 'thinking', thinking: 'x' }] }] },
      'signature',
    ],
    [
      'a foreign signature on strict models',
      {
        model: 'sim-claude-strict',
        messages: [
          user('a'),
          { role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: 'y' }] },
          user('b'),
        ],
      },
      'Invalid `signature`',
    ],
    [
      'five cache breakpoints',
      { messages: [user([cached(), cached(), cached(), cached(), cached()])] },
      'Found 5',
    ],
    ['a 1h breakpoint after a 5m one', { system: [cached()], messages: [user([cached('1h')])] }, "ttl='1h'"],
    [
      'temperature and top_p on strict models',
      { model: 'sim-claude-strict', temperature: 1, top_p: 0.9 },
      'cannot both be specified',
    ],
    ['a temperature above 1', { temperature: 1.5 }, 'temperature'],
    ['a tool without an object schema', { tools: [{ name: 'f', input_schema: {} }] }, 'input_schema'],
    [
      'a choice of no known tool',
      { tools: [TOOL], tool_choice: { type: 'tool', name: 'g' } },
      "'g' not found",
    ],
  ])('%s', async (_title, over, words) => {
    const { status, json } = await post(sim, 'messages', over);
    expect([status, at(json, 'error', 'type')]).toEqual([400, 'invalid_request_error']);
    expect(at(json, 'error', 'message')).toContain(words);
  });

  it('a request without its key or its version', async () => {
    const send = async (headers: Record<string, string>): Promise<number> => {
      const body = JSON.stringify(bodyOf('messages', {}));
      const answer = await request(`${sim.url}/v1/messages`, { method: 'POST', headers, body });
      await answer.body.dump();
      return answer.statusCode;
    };
    expect(await send({ 'anthropic-version': '2023-06-01' })).toBe(401);
    expect(await send({ 'anthropic-version': '2023-06-01', authorization: 'Bearer x' })).toBe(401);
    expect(await send({ 'x-api-key': 'x' })).toBe(400);
    expect(await send({ 'x-api-key': 'x', 'anthropic-version': '2020-01-01' })).toBe(400);
    expect(await send({ 'anthropic-version': '2026-10-21', authorization: 'Bearer x' })).toBe(200);
  });

  it('sampling under 2026-10-21 only, though the same body was answered before', async () => {
    expect((await post(sim, 'messages', { top_k: 4 })).status).toBe(200);
    expect((await post(sim, 'messages', { top_k: 4 }, { 'anthropic-version': '2026-10-21' })).status).toBe(
      400,
    );
  });

  it('nothing of a right tool loop, of merged turns, of 1h before 5m', async () => {
    const messages = [
      user('a'),
      user('b'),
      useOf('t1'),
      useOf('t2'),
      user([resultOf('t1')]),
      user([resultOf('t2'), cached()]),
    ];
    expect((await post(sim, 'messages', { system: [cached('1h')], messages })).status).toBe(200);
  });
});

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { request } from 'undici';
import { textOf } from './json.js';
import { at, firstChoice, payloads, post } from './spec-client.js';
import { startUpstreamSim, type UpstreamSim } from './upstream-sim.js';

const WEATHER = {
  type: 'object' as const,
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2 }, unit: { enum: ['c', 'f'] } },
  required: ['city', 'days', 'unit'],
};
const CHAT_TOOL = { type: 'function' as const, function: { name: 'weather', parameters: WEATHER } };
const CLAUDE_TOOL = { name: 'weather', input_schema: WEATHER };

let sim: UpstreamSim;
beforeAll(async () => (sim = await startUpstreamSim()));
afterAll(() => sim.close());

describe('ordinary answers', () => {
  it('echoes the last user message and counts a token for every four bytes', async () => {
    const { status, json } = await post(sim, 'chat');
    const text = textOf(at(firstChoice(json), 'message', 'content'));
    expect(status).toBe(200);
    expect(text).toContain('You said: "Good morning"');
    expect(json.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: Math.ceil(text.length / 4) });
    const messages = await post(sim, 'messages');
    expect(at(messages.json, 'content', 0, 'text')).toBe(text);
    expect(messages.json).toMatchObject({ stop_reason: 'end_turn', usage: { input_tokens: 3 } });
  });

  it.each([
    ['words', 'ab  cd\n'.repeat(60), `${'ab cd '.repeat(34).slice(0, 200)}…`],
    ['one word', 'x'.repeat(1_000_000), `${'x'.repeat(200)}…`],
    ['characters of two units', '\u{1f600}'.repeat(300), `${'\u{1f600}'.repeat(200)}…`],
    ['200 characters', ` ${'y'.repeat(200)} `, 'y'.repeat(200)],
  ])('echoes 200 characters at most: %s', async (_, content, echo) => {
    const { json } = await post(sim, 'chat', { messages: [{ role: 'user', content }] });
    expect(at(firstChoice(json), 'message', 'content')).toContain(`You said: "${echo}"`);
  });

  it('gives every answer its own id, prebuilt answers included', async () => {
    const ids = [await post(sim, 'chat'), await post(sim, 'chat'), await post(sim, 'chat')].map(
      ({ json }) => json.id,
    );
    expect(new Set(ids).size).toBe(3);
    const stream = await post(sim, 'chat', { stream: true });
    expect(new Set(payloads(stream.text).map(({ id }) => id)).size).toBe(1);
  });

  it('stops at the caller’s limit and says so natively', async () => {
    const chat = await post(sim, 'chat', { max_tokens: 2 });
    expect(firstChoice(chat.json)).toMatchObject({
      message: { content: 'Hello fr' },
      finish_reason: 'length',
    });
    expect((await post(sim, 'messages', { max_tokens: 2 })).json.stop_reason).toBe('max_tokens');
  });

  it('lists models', async () => {
    const answer = await request(`${sim.url}/v1/models`);
    expect(await answer.body.json()).toMatchObject({
      object: 'list',
      data: [{ id: 'sim-chat' }, {}, {}, {}, {}, {}],
    });
  });

  it('answers several choices', async () => {
    const { json } = await post(sim, 'chat', { n: 3 });
    expect(json.choices).toMatchObject([{ index: 0 }, { index: 1 }, { index: 2 }]);
  });
});

describe('scripted content', () => {
  it('takes text, token counts and finish from the model name, the header wins', async () => {
    const model =
      'sim-chat:text=From%20the%20name;prompt=50;completion=9;cached=20;cache_write=10;reasoning=4';
    const named = await post(sim, 'chat', { model });
    expect(firstChoice(named.json)).toMatchObject({ message: { content: 'From the name' } });
    expect(named.json.usage).toMatchObject({
      prompt_tokens: 50,
      completion_tokens: 9,
      total_tokens: 59,
      prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 4 },
    });
    const headed = await post(sim, 'chat', { model }, { 'x-sim': 'text=From the header; prompt=51' });
    expect(firstChoice(headed.json)).toMatchObject({ message: { content: 'From the header' } });
    const json = await post(sim, 'chat', {}, { 'x-sim': '{"text":"a;b=c","prompt":7}' });
    expect(json.json).toMatchObject({
      choices: [{ message: { content: 'a;b=c' } }],
      usage: { prompt_tokens: 7 },
    });
  });

  it('leaves cached and written tokens out of Anthropic’s input count', async () => {
    const model = 'sim-claude:prompt=100;cached=30;cache_write=20;cache_write_1h=5;reasoning=2';
    expect((await post(sim, 'messages', { model })).json.usage).toMatchObject({
      input_tokens: 50,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 20,
      cache_creation: { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 5 },
      output_tokens_details: { thinking_tokens: 2 },
    });
  });

  it.each(['stop', 'length', 'content_filter', 'insufficient_system_resource'])(
    'finishes with %s on chat',
    async (word) => {
      const { json } = await post(sim, 'chat', { model: `sim-chat:finish=${word}` });
      expect(firstChoice(json).finish_reason).toBe(word);
    },
  );

  it.each(['stop_sequence', 'pause_turn', 'refusal', 'model_context_window_exceeded', 'compaction'])(
    'finishes with %s on messages, also with no block at all',
    async (word) => {
      const { json } = await post(sim, 'messages', { model: `sim-claude:text=;finish=${word}` });
      expect(json).toMatchObject({ content: [], stop_reason: word });
      const { text } = await post(sim, 'messages', {
        model: `sim-claude:text=;finish=${word}`,
        stream: true,
      });
      const types = payloads(text).map(({ type }) => type);
      expect(types).toEqual(['message_start', 'ping', 'message_delta', 'message_stop']);
    },
  );

  it('answers with exactly the bytes asked for', async () => {
    const { json } = await post(sim, 'chat', { model: 'sim-chat:bytes=100000' });
    expect(textOf(at(firstChoice(json), 'message', 'content'))).toHaveLength(100_000);
  });

  it('thinks aloud on both dialects', async () => {
    const chat = await post(sim, 'chat', { model: 'sim-chat:think=Well' });
    expect(firstChoice(chat.json)).toMatchObject({ message: { reasoning_content: 'Well' } });
    const claude = await post(sim, 'messages', { model: 'sim-claude:think=Well', stream: true });
    const deltas = payloads(claude.text).map((event) => at(event, 'delta', 'type'));
    expect(deltas.filter(Boolean).slice(0, 2)).toEqual(['thinking_delta', 'signature_delta']);
  });

  it('refuses in the words of the dialect', async () => {
    const chat = await post(sim, 'chat', { model: 'sim-chat:refusal=No' });
    expect(firstChoice(chat.json)).toMatchObject({ message: { refusal: 'No', content: null } });
    expect((await post(sim, 'messages', { model: 'sim-claude:refusal=No' })).json).toMatchObject({
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', explanation: 'No' },
    });
  });

  it('fills structured output', async () => {
    const format = { type: 'json_schema', json_schema: { name: 'weather', schema: WEATHER } };
    const chat = await post(sim, 'chat', { response_format: format });
    const expected = { city: 'Good morning', days: 2, unit: 'c' };
    expect(JSON.parse(textOf(at(firstChoice(chat.json), 'message', 'content')))).toEqual(expected);
    const claude = await post(sim, 'messages', {
      output_config: { format: { type: 'json_schema', schema: WEATHER } },
    });
    expect(JSON.parse(textOf(at(claude.json, 'content', 0, 'text')))).toEqual(expected);
  });
});

describe('tool calls', () => {
  it('makes several parallel calls, one where the caller forbids more', async () => {
    const model = 'sim-chat:tools=3';
    const three = await post(sim, 'chat', { model, tools: [CHAT_TOOL] });
    expect(at(firstChoice(three.json), 'message', 'tool_calls')).toHaveLength(3);
    expect(firstChoice(three.json)).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null },
    });
    const one = await post(sim, 'chat', { model, tools: [CHAT_TOOL], parallel_tool_calls: false });
    expect(at(firstChoice(one.json), 'message', 'tool_calls')).toHaveLength(1);
  });

  it('streams arguments in as many fragments as asked, and none for a call without arguments', async () => {
    const model = 'sim-chat:tools=1;tool_fragments=5';
    const { text } = await post(sim, 'chat', { model, tools: [CHAT_TOOL], stream: true });
    const deltas = payloads(text).map((chunk) => at(firstChoice(chunk), 'delta', 'tool_calls', 0));
    const calls = deltas.filter((delta) => delta !== undefined);
    expect(calls[0]).toMatchObject({
      index: 0,
      type: 'function',
      function: { name: 'weather', arguments: '' },
    });
    expect(calls).toHaveLength(6);
    const joined = calls.map((call) => textOf(at(call, 'function', 'arguments'))).join('');
    expect(JSON.parse(joined)).toEqual({ city: 'Good morning', days: 2, unit: 'c' });
    const bare = await post(sim, 'messages', { model: 'sim-claude:tools=1;tool_args=none', stream: true });
    expect(payloads(bare.text).map(({ type }) => type)).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
  });

  it('calls only the named tool when the choice is forced and none when it is none', async () => {
    const tools = [{ ...CHAT_TOOL, function: { name: 'other' } }, CHAT_TOOL];
    const forced = await post(sim, 'chat', {
      tools,
      tool_choice: { type: 'function', function: { name: 'weather' } },
    });
    expect(at(firstChoice(forced.json), 'message', 'tool_calls', 0, 'function', 'name')).toBe('weather');
    const none = await post(sim, 'chat', { model: 'sim-chat-tools', tools, tool_choice: 'none' });
    expect(firstChoice(none.json).finish_reason).toBe('stop');
  });

  it('serves a two-turn tool loop of the OpenAI SDK', async () => {
    const client = new OpenAI({ apiKey: 'sk-sim', baseURL: `${sim.url}/v1`, maxRetries: 0 });
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Oslo' }];
    const ask = { model: 'sim-chat-tools', tools: [CHAT_TOOL], messages };
    const first = await client.chat.completions.stream(ask).finalChatCompletion();
    const { tool_calls: calls } = first.choices[0].message;
    messages.push({ role: 'assistant', content: null, tool_calls: calls });
    messages.push({ role: 'tool', tool_call_id: calls?.[0].id ?? '', content: '21 degrees' });
    const second = await client.chat.completions.create(ask);
    expect(second.choices[0].message.content).toBe('The tools answered: 21 degrees');
  });

  it('serves a two-turn tool loop of the Anthropic SDK with thinking', async () => {
    const client = new Anthropic({ apiKey: 'sk-sim', baseURL: sim.url, maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Oslo' }];
    const ask: Anthropic.MessageStreamParams = {
      model: 'sim-claude-tools-strict',
      max_tokens: 4_000,
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      tools: [CLAUDE_TOOL],
      messages,
    };
    const first = await client.messages.stream(ask).finalMessage();
    expect(first.content.map(({ type }) => type)).toEqual(['thinking', 'tool_use']);
    const call = first.content[1];
    messages.push({ role: 'assistant', content: first.content });
    messages.push({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'id' in call ? String(call.id) : '', content: '21 degrees' },
      ],
    });
    const second = await client.messages.stream(ask).finalMessage();
    expect(second.content.at(-1)).toMatchObject({ type: 'text', text: 'The tools answered: 21 degrees' });
  });
});

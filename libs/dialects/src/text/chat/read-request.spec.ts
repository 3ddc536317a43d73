import { ApiError, errorEnvelope } from '@gateway/contracts';
import type { ModelRequest } from '../model-request.js';
import { dialect } from './chat.dialect.js';
import { bodyOf } from './chat-samples.fixture.js';
import type { JsonObject } from '../../body/json-object.js';
import { DATA_URL_LIMIT_BYTES } from '../data-url.js';

const USER = { role: 'user', content: 'Hi' };
const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } };
const CALL = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };
const PNG = 'data:image/png;base64,aGVsbG8=';

function read(body: JsonObject): ModelRequest {
  return dialect.caller.read(bodyOf({ model: 'acme/large', messages: [USER], ...body }));
}

function refusal(body: JsonObject): ApiError {
  try {
    read(body);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('the body was accepted');
}

/** Returns the place of the first fault of a refused body. */
function locOf(body: JsonObject): string {
  const error = refusal(body);
  expect(error).toMatchObject({ code: 'validation_error', status: 422 });
  const detail = error.options.details?.[0];
  expect(detail?.msg).not.toBe('');
  expect(error.options.param).toBe(detail?.loc.join('.'));
  return detail?.loc.join('.') ?? '';
}

describe('a chat request', () => {
  it('takes a tool without a type for a function where it has one', () => {
    const tools = [{ function: { name: 'look', parameters: { type: 'object' } } }];
    expect(read({ tools }).tools).toEqual([{ name: 'look', parameters: { type: 'object' } }]);
    expect(locOf({ tools: [{ name: 'look' }] })).toBe('tools.0.type');
  });

  it('is read into the middle form', () => {
    const request = read({
      stream: true,
      temperature: 0.5,
      max_completion_tokens: 9,
      stop: 'END',
      tools: [TOOL],
      tool_choice: { type: 'function', function: { name: 'look' } },
      parallel_tool_calls: false,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'out', schema: { type: 'object' }, strict: true },
      },
      stream_options: { include_usage: true },
    });
    expect(request).toMatchObject({
      dialect: 'chat',
      model: 'acme/large',
      stream: true,
      turns: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
      tools: [{ name: 'look', parameters: { type: 'object' } }],
      toolChoice: { mode: 'named', name: 'look' },
      parallelToolCalls: false,
      maxOutputTokens: 9,
      stop: ['END'],
      choices: 1,
      responseFormat: { kind: 'json_schema', name: 'out', strict: true },
      includeUsage: true,
      legacyFunctions: false,
    });
    expect(request.sampling).toMatchObject({ temperature: 0.5, topP: null });
  });

  it('CHAT-17 may leave the model out: the key may have a default', () => {
    expect(dialect.caller.read(bodyOf({ messages: [USER] })).model).toBeNull();
  });

  it('CHAT-18 ERR-35 422 for missing, empty or malformed messages, with the place', () => {
    expect(locOf({ messages: undefined })).toBe('messages');
    expect(locOf({ messages: [] })).toBe('messages');
    expect(locOf({ messages: 'Hi' })).toBe('messages');
    expect(locOf({ messages: [USER, { role: 'wizard', content: 'Hi' }] })).toBe('messages.1.role');
    expect(locOf({ messages: [{ content: 'Hi' }] })).toBe('messages.0.role');
    expect(locOf({ messages: [{ role: 'user' }] })).toBe('messages.0.content');
    expect(locOf({ messages: [{ role: 'user', content: 3 }] })).toBe('messages.0.content');
    expect(locOf({ messages: [{ role: 'user', content: [{ type: 'smell' }] }] })).toBe(
      'messages.0.content.0.type',
    );
  });

  it('CHAT-19 takes content as a string or as parts', () => {
    const parts = [
      { type: 'text', text: 'Hi' },
      { type: 'text', text: ' you' },
    ];
    expect(read({ messages: [{ role: 'user', content: parts }] }).turns[0].parts).toEqual(parts);
  });

  it('CHAT-20 takes images as data URLs and https, and nothing else', () => {
    const image = (url: string): JsonObject => ({
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
    });
    const request = read(image(PNG));
    expect(request.turns[0].parts).toEqual([
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'aGVsbG8=' } },
    ]);
    expect(request.requires).toEqual([{ capability: 'image_input', param: 'messages[0].content[0]' }]);
    expect(request.sizes.images).toBe(1);
    expect(read(image('https://a.example/x.png')).turns[0].parts).toMatchObject([
      { source: { kind: 'url' } },
    ]);
    const refused = [
      'http://a.example/x.png',
      'ftp://x',
      'data:image/png,hello',
      'data:image/png;base64,###',
      'data:text/plain;base64,aGVsbG8=',
    ];
    for (const url of refused) expect(locOf(image(url))).toBe('messages.0.content.0.image_url.url');
    const huge = `data:image/png;base64,${'A'.repeat(Math.ceil((DATA_URL_LIMIT_BYTES + 3) / 3) * 4)}`;
    expect(locOf(image(huge))).toBe('messages.0.content.0.image_url.url');
  });

  it('CHAT-21 422 for a number that is none or is out of bounds', () => {
    expect(read({ temperature: 2 }).sampling.temperature).toBe(2);
    for (const temperature of ['1', true, 2.1, -1]) expect(locOf({ temperature })).toBe('temperature');
    expect(locOf({ top_p: 1.5 })).toBe('top_p');
    expect(locOf({ max_tokens: 0 })).toBe('max_tokens');
    expect(locOf({ max_tokens: 1.5 })).toBe('max_tokens');
    expect(locOf({ n: 0 })).toBe('n');
    expect(locOf({ presence_penalty: 3 })).toBe('presence_penalty');
    expect(locOf({ logprobs: true, top_logprobs: 21 })).toBe('top_logprobs');
    expect(locOf({ logit_bias: { '1': 101 } })).toBe('logit_bias.1');
    expect(locOf({ stop: [1] })).toBe('stop.0');
  });

  it('CHAT-26 CHAT-27 CHAT-28 knows the tiers auto, default and flex', () => {
    for (const tier of ['auto', 'default', 'flex'] as const)
      expect(read({ service_tier: tier }).serviceTier).toBe(tier);
    for (const service_tier of ['priority', 'fast', 'scale', 'x', 1])
      expect(locOf({ service_tier })).toBe('service_tier');
    expect(read({ service_tier: 'default' }).requires).toEqual([]);
  });

  it('CHAT-29 CHAT-30 takes an effort or a budget to reason with, not both', () => {
    for (const effort of ['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'])
      expect(read({ reasoning: { effort } }).reasoning).toMatchObject({ effort });
    expect(read({ reasoning: { max_tokens: 99, exclude: true } }).reasoning).toEqual({
      effort: null,
      maxTokens: 99,
      exclude: true,
    });
    expect(locOf({ reasoning: { effort: 'huge' } })).toBe('reasoning.effort');
    expect(locOf({ reasoning: { effort: 'low', max_tokens: 99 } })).toBe('reasoning');
    expect(locOf({ reasoning: { exclude: 'yes' } })).toBe('reasoning.exclude');
  });

  it('CHAT-32 CHAT-33 lets reasoning win over reasoning_effort, which counts alone', () => {
    expect(read({ reasoning: { effort: 'low' }, reasoning_effort: 'high' }).reasoning?.effort).toBe('low');
    const alone = read({ reasoning_effort: 'high' });
    expect(alone.reasoning).toEqual({ effort: 'high', maxTokens: null, exclude: false });
    expect(alone.requires).toEqual([{ capability: 'reasoning', param: 'reasoning_effort' }]);
    expect(read({ reasoning_effort: 'none' }).requires).toEqual([]);
  });

  it('CHAT-34 CHAT-35 lets safety_identifier win over user, which counts alone', () => {
    expect(read({ safety_identifier: 'a', user: 'b' }).endUser).toBe('a');
    expect(read({ user: 'b' }).endUser).toBe('b');
    expect(locOf({ safety_identifier: 'x'.repeat(65) })).toBe('safety_identifier');
  });

  it('422 where members contradict each other', () => {
    expect(locOf({ max_tokens: 1, max_completion_tokens: 2 })).toBe('max_tokens');
    expect(read({ max_tokens: 2, max_completion_tokens: 2 }).maxOutputTokens).toBe(2);
    expect(locOf({ top_logprobs: 2 })).toBe('top_logprobs');
    expect(locOf({ stream_options: { include_usage: true } })).toBe('stream_options');
    expect(locOf({ modalities: ['text', 'audio'] })).toBe('audio');
    expect(locOf({ tools: [TOOL], tool_choice: { type: 'function', function: { name: 'other' } } })).toBe(
      'tool_choice.function.name',
    );
    expect(locOf({ tools: [TOOL], tool_choice: 'sometimes' })).toBe('tool_choice');
    const allowed = { mode: 'auto', tools: [TOOL, { type: 'function', function: { name: 'other' } }] };
    expect(locOf({ tools: [TOOL], tool_choice: { type: 'allowed_tools', allowed_tools: allowed } })).toBe(
      'tool_choice.allowed_tools.tools.1',
    );
  });

  it('bounds metadata and names of tools', () => {
    expect(
      locOf({ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, k) => [`k${k}`, 'v'])) }),
    ).toBe('metadata');
    expect(locOf({ metadata: { ['k'.repeat(65)]: 'v' } })).toMatch(/^metadata/);
    expect(locOf({ metadata: { k: 'v'.repeat(513) } })).toBe('metadata.k');
    expect(locOf({ tools: [{ type: 'function', function: { name: 'a b' } }] })).toBe('tools.0.function.name');
  });

  it('422 where calls and results do not match, with the place of either', () => {
    const asked = { role: 'assistant', content: null, tool_calls: [CALL] };
    const answered = { role: 'tool', tool_call_id: 'a', content: 'found' };
    expect(locOf({ messages: [USER, answered] })).toBe('messages.1.tool_call_id');
    expect(locOf({ messages: [USER, asked, USER] })).toBe('messages.1.tool_calls.0');
    expect(locOf({ messages: [USER, asked] })).toBe('messages.1.tool_calls.0');
    expect(locOf({ messages: [USER, asked, answered, answered] })).toBe('messages.3.tool_call_id');
    expect(read({ messages: [USER, asked, answered, USER] }).turns.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ]);
  });

  it('keeps the results of one turn together, and arguments as they came, be they empty (bug 3)', () => {
    const calls = ['', '{"a":'].map((text, k) => ({
      ...CALL,
      id: `c${k}`,
      function: { name: 'look', arguments: text },
    }));
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: id }));
    const { turns } = read({ messages: [USER, { role: 'assistant', tool_calls: calls }, ...results] });
    expect(turns[1].parts).toMatchObject([
      { type: 'tool_call', arguments: '' },
      { type: 'tool_call', arguments: '{"a":' },
    ]);
    expect(turns[2].parts).toMatchObject([{ toolCallId: 'c0' }, { toolCallId: 'c1' }]);
  });

  it('names the parameter of each capability that a route must have', () => {
    const request = read({
      tools: [TOOL, { type: 'custom', custom: { name: 'sql' } }],
      n: 2,
      logprobs: true,
      logit_bias: { '5': 1 },
      modalities: ['text', 'audio'],
      audio: { format: 'wav', voice: 'a' },
      prediction: { type: 'content', content: 'x' },
      web_search_options: {},
      reasoning: { max_tokens: 2_000 },
      response_format: { type: 'json_schema', json_schema: { name: 'x' } },
    });
    const named = request.requires.map(({ capability, param, value }) => [
      capability,
      value === undefined ? param : `${param} ${value}`,
    ]);
    expect(Object.fromEntries(named)).toEqual({
      tools: 'tools',
      custom_tools: 'tools[1].type custom',
      json_schema: 'response_format json_schema',
      choices: 'n',
      logprobs: 'logprobs',
      logit_bias: 'logit_bias',
      audio_output: 'modalities',
      prediction: 'prediction',
      web_search: 'web_search_options',
      reasoning_budget: 'reasoning.max_tokens',
    });
  });

  it('keeps hints and members nobody knows apart', () => {
    const request = read({
      verbosity: 'low',
      prompt_cache_key: 'k',
      min_p: 0.1,
      brand_new: { a: 1 },
      user: 'u',
    });
    expect(request.hints).toEqual({ verbosity: 'low', prompt_cache_key: 'k' });
    expect(request.unknown).toEqual({ min_p: 0.1, brand_new: { a: 1 } });
  });

  it('reads cache markers in either spelling, an hour only where asked for', () => {
    const marked = (marker: JsonObject): unknown =>
      read({ messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', ...marker }] }] }).turns[0]
        .parts[0];
    expect(marked({ cache_control: { type: 'ephemeral', ttl: '1h' } })).toMatchObject({
      cache: { ttl: '1h' },
    });
    expect(marked({ cache_control: { type: 'ephemeral' } })).toMatchObject({ cache: { ttl: '5m' } });
    expect(marked({ prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } })).toMatchObject({
      cache: { ttl: '5m' },
    });
  });

  it('reads reasoning of earlier turns with its signature', () => {
    const details = [
      { type: 'reasoning.text', text: 'hm', signature: 's', format: 'f' },
      { type: 'reasoning.encrypted', data: 'd', format: 'f' },
    ];
    const { turns } = read({
      messages: [USER, { role: 'assistant', content: 'Hi', reasoning: 'hm', reasoning_details: details }],
    });
    expect(turns[1].parts).toEqual([
      { type: 'reasoning', text: 'hm', signature: 's', format: 'f' },
      { type: 'opaque_reasoning', data: 'd', format: 'f' },
      { type: 'text', text: 'Hi' },
    ]);
  });

  it('reads legacy functions as tools', () => {
    const request = read({
      messages: [
        USER,
        { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
        { role: 'function', name: 'look', content: 'found' },
      ],
      functions: [{ name: 'look', parameters: { type: 'object' } }],
      function_call: { name: 'look' },
    });
    expect(request).toMatchObject({
      legacyFunctions: true,
      tools: [{ name: 'look' }],
      toolChoice: { mode: 'named', name: 'look' },
      parallelToolCalls: false,
      unknown: {},
    });
    const [, asked, answered] = request.turns;
    expect(asked.parts[0]).toMatchObject({ type: 'tool_call', name: 'look' });
    expect(answered.parts[0]).toMatchObject({ toolCallId: 'call_function_1' });
  });

  it('measures what the estimate needs (bug 26)', () => {
    const tools = [TOOL];
    const data = Buffer.alloc(64_000).toString('base64');
    const { sizes } = read({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'é' },
            { type: 'image_url', image_url: { url: PNG } },
            { type: 'input_audio', input_audio: { data, format: 'wav' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,aGVsbG8=', filename: 'a.pdf' } },
          ],
        },
      ],
      tools,
    });
    expect(sizes).toEqual({
      textBytes: 2 + JSON.stringify(tools).length,
      images: 1,
      audioSeconds: 2,
      documentBytes: [5],
    });
  });

  it('ERR-35 422 for a body that is no JSON object', () => {
    const error = dialect.caller.bodyError({
      detail: { type: 'json_invalid', loc: ['body'], msg: 'not JSON' },
    });
    expect(error).toMatchObject({ code: 'validation_error', status: 422, message: 'not JSON' });
    expect(errorEnvelope(error, 'req_1')).toMatchObject({
      error: { code: 'validation_error', type: 'invalid_request_error', details: [{ type: 'json_invalid' }] },
      request_id: 'req_1',
    });
  });
});

import type { JsonObject } from '../../body/json-object.js';
import { ApiError, messagesErrorEnvelope, type ErrorDetail } from '@gateway/contracts';
import { BodyFault, parseBody } from '@gateway/json-body';
import type { ModelRequest } from '../model-request.js';
import { dialect } from './messages.dialect.js';
import { bodyOf } from './messages.fixture.js';

const base = { model: 'acme/claude', max_tokens: 2000, messages: [{ role: 'user', content: 'hi' }] };

function read(changes: JsonObject): ModelRequest {
  return dialect.caller.read(bodyOf({ ...base, ...changes }));
}

function refusal(changes: JsonObject): ApiError {
  try {
    read(changes);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('accepted');
}

function locOf(changes: JsonObject): string {
  const details: ErrorDetail[] = refusal(changes).options.details ?? [];
  return details[0].loc.join('.');
}

const user = (...content: JsonObject[]): JsonObject => ({ role: 'user', content });
const assistant = (...content: JsonObject[]): JsonObject => ({ role: 'assistant', content });
const text = { type: 'text', text: 'x' };
const use = (id: string): JsonObject => ({ type: 'tool_use', id, name: 'look', input: {} });
const result = (id: string): JsonObject => ({ type: 'tool_result', tool_use_id: id, content: 'done' });
const tool = (changes: JsonObject = {}): JsonObject => ({
  name: 'look',
  input_schema: { type: 'object' },
  ...changes,
});
const short = { cache_control: { type: 'ephemeral' } };
const long = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const first = base.messages[0];

describe('a body of POST /v1/messages', () => {
  it('MSG-03 ERR-29 400 invalid_request_error in Anthropic’s envelope, naming the member', () => {
    const error = refusal({ max_tokens: undefined });
    expect([error.code, error.status]).toEqual(['invalid_request_error', 400]);
    expect(messagesErrorEnvelope(error, 'req_1')).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', details: [{ type: 'missing', loc: ['max_tokens'] }] },
      request_id: 'req_1',
    });
    const fault = parseBody(Buffer.from('[]'));
    expect(fault instanceof BodyFault && dialect.caller.bodyError(fault).code).toBe('invalid_request_error');
  });

  it.each<[string, JsonObject]>([
    ['model', { model: 7 }],
    ['max_tokens', { max_tokens: -1 }],
    ['max_tokens', { max_tokens: '5' }],
    ['messages', { messages: [] }],
    ['messages.0.role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages.0.content', { messages: [{ role: 'user' }] }],
    ['messages.0.content', { messages: [{ role: 'user', content: ' ' }] }],
    [
      'messages.1.content',
      { messages: [base.messages[0], { role: 'assistant', content: [] }, base.messages[0]] },
    ],
    ['messages.0.content.0.type', { messages: [user({ type: 'nonsense' })] }],
    ['messages.0.content.0.type', { messages: [user({ text: 'x' })] }],
    ['messages.0.content.0.text', { messages: [user({ type: 'text' })] }],
    ['messages.0.content.0.text', { messages: [user({ type: 'text', text: ' \n' })] }],
    [
      'messages.0.content.0.source.media_type',
      { messages: [user({ type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: '' } })] },
    ],
    ['messages.0.content.0.source.type', { messages: [user({ type: 'image', source: { type: 'disk' } })] }],
    ...['image', 'document'].map((type): [string, JsonObject] => [
      'messages.0.content.0.source.url',
      { messages: [user({ type, source: { type: 'url', url: 'http://a.example/b' } })] },
    ]),
    ['messages.0.content.0.type', { messages: [user({ type: 'container_upload', file_id: 'file_1' })] }],
    [
      'messages.2.content.0.content.0.type',
      {
        messages: [
          first,
          assistant(use('a')),
          user({ ...result('a'), content: [{ type: 'container_upload', file_id: 'file_1' }] }),
        ],
      },
    ],
    [
      'messages.0.content.0.source.content.1.source.type',
      {
        messages: [
          user({
            type: 'document',
            source: {
              type: 'content',
              content: [
                { type: 'text', text: 'x' },
                { type: 'image', source: { type: 'file', file_id: 'file_1' } },
              ],
            },
          }),
        ],
      },
    ],
    ['system.0.text', { system: [{ type: 'text', text: '' }] }],
    ['system', { system: 3 }],
    ['tools.0.name', { tools: [tool({ name: 'not allowed' })] }],
    ['tools.0.input_schema', { tools: [{ name: 'a' }] }],
    ['tools.0.input_schema.type', { tools: [tool({ input_schema: { type: 'string' } })] }],
    ['tools.0.input_schema.type', { tools: [tool({ input_schema: {} })] }],
    ['tools.1.name', { tools: [tool(), tool()] }],
    ['tool_choice', { tool_choice: 'auto' }],
    ['tool_choice.type', { tool_choice: { type: 'required' } }],
    ['tool_choice.name', { tools: [tool()], tool_choice: { type: 'tool', name: 'other' } }],
    ['tool_choice', { tool_choice: { type: 'any' } }],
    ['temperature', { temperature: 1.5 }],
    ['top_k', { top_k: 0.5 }],
    ['stop_sequences.1', { stop_sequences: ['a', ' \n'] }],
    ['stream', { stream: 'yes' }],
    ['metadata.user_id', { metadata: { user_id: 5 } }],
    ['service_tier', { service_tier: 'priority' }],
    ['speed', { speed: 'fast' }],
    ['thinking.type', { thinking: { type: 'on' } }],
    ['thinking.budget_tokens', { thinking: { type: 'enabled' } }],
    ['thinking.budget_tokens', { thinking: { type: 'enabled', budget_tokens: 1023 } }],
    ['thinking.budget_tokens', { thinking: { type: 'enabled', budget_tokens: 2000 } }],
    [
      'tool_choice.type',
      { thinking: { type: 'enabled', budget_tokens: 1024 }, tools: [tool()], tool_choice: { type: 'any' } },
    ],
    ['output_config.effort', { output_config: { effort: 'extreme' } }],
    ['output_config.format.schema', { output_config: { format: { type: 'json_schema' } } }],
    ['cache_control.type', { cache_control: { type: 'forever' } }],
  ])('refuses what is wrong at %s', (loc, changes) => {
    expect(locOf(changes)).toBe(loc);
  });

  it.each<[string, JsonObject[]]>([
    ['messages.1.content.0', [first, assistant(use('a'))]],
    ['messages.1.content.0', [first, assistant(use('a')), user(text)]],
    ['messages.1.content.1', [first, assistant(use('a'), use('b')), user(result('a')), assistant(text)]],
    ['messages.0.content.0.tool_use_id', [user(result('a'))]],
    ['messages.1.content.1.id', [first, assistant(use('a'), use('a')), user(result('a'))]],
    ['messages.2.content.1.tool_use_id', [first, assistant(use('a')), user(result('a'), result('a'))]],
    ['messages.0.content.0', [user(use('a'))]],
  ])('refuses tool calls and results that do not pair: %s', (loc, messages) => {
    expect(locOf({ messages })).toBe(loc);
  });

  it('names the values that may be sent, and not that they may be left out', () => {
    const said = 'must be one of auto, standard_only';
    expect(refusal({ service_tier: 'some' }).message).toBe(`service_tier: ${said}`);
  });

  it('takes results that come in several messages of one user turn', () => {
    const messages = [first, assistant(use('a'), use('b')), user(result('b')), user(result('a'), text)];
    expect(read({ messages }).turns.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
      'user',
    ]);
  });

  it('bug 21: at most 4 cache breakpoints, none of an hour after one of 5 minutes', () => {
    const block = (marker: JsonObject): JsonObject => ({ ...text, ...marker });
    const four = { tools: [tool(long)], system: [block(long)], messages: [user(block(short), block(short))] };
    expect(read(four).hints).toHaveProperty('cache_control');
    expect(locOf({ ...four, cache_control: short.cache_control })).toBe('messages.0.content.1.cache_control');
    expect(locOf({ tools: [tool(short)], system: [block(long)] })).toBe('system.0.cache_control.ttl');
    const inside = user({ ...result('a'), content: [block(short)] }, block(long));
    expect(locOf({ messages: [first, assistant(use('a')), inside] })).toBe(
      'messages.2.content.1.cache_control.ttl',
    );
  });

  it('takes a body without a model, for a key with a default one', () => {
    expect(read({ model: null }).model).toBeNull();
    expect(read({ model: undefined }).model).toBeNull();
  });
});

describe('the middle form of a messages request', () => {
  it('carries every member that other dialects know', () => {
    const request = read({
      system: [{ ...text, text: 'be kind', ...long }],
      stream: true,
      tools: [tool({ description: 'looks', strict: true })],
      tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
      temperature: 0.5,
      top_p: 0.9,
      top_k: 4,
      stop_sequences: ['END'],
      metadata: { user_id: 'u1' },
      service_tier: 'standard_only',
      output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } },
    });
    expect(request).toMatchObject({
      dialect: 'messages',
      model: 'acme/claude',
      stream: true,
      maxOutputTokens: 2000,
      turns: [
        { role: 'system', parts: [{ type: 'text', text: 'be kind', cache: { ttl: '1h' } }] },
        { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
      ],
      tools: [{ name: 'look', description: 'looks', strict: true, parameters: { type: 'object' } }],
      toolChoice: { mode: 'named', name: 'look' },
      parallelToolCalls: false,
      sampling: { temperature: 0.5, topP: 0.9, topK: 4 },
      stop: ['END'],
      endUser: 'u1',
      serviceTier: 'default',
      reasoning: { effort: 'high', maxTokens: null, exclude: false },
      responseFormat: { kind: 'json_schema', name: 'output', schema: { type: 'object' }, strict: true },
      requires: [
        { capability: 'tools', param: 'tools' },
        { capability: 'json_schema', param: 'output_config.format' },
      ],
    });
  });

  it('puts tool results before the rest of their turn, and images beside', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } };
    const answer = { ...result('toolu_via_call_1'), content: [text, image], is_error: true };
    const request = read({
      messages: [
        first,
        assistant(
          { type: 'thinking', thinking: 'hm', signature: 's' },
          { type: 'thinking', thinking: 'other', signature: '' },
          { type: 'redacted_thinking', data: 'd' },
          { ...use('toolu_via_call_1'), input: { a: 1 } },
        ),
        user(text, answer),
      ],
    });
    expect(request.turns.slice(1)).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'hm', signature: 's', format: 'anthropic' },
          { type: 'reasoning', text: 'other' },
          { type: 'opaque_reasoning', data: 'd', format: 'anthropic' },
          { type: 'tool_call', id: 'call_1', name: 'look', arguments: '{"a":1}' },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool_result',
            toolCallId: 'call_1',
            isError: true,
            parts: [
              { type: 'text', text: 'x' },
              { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'QUJD' } },
            ],
          },
        ],
      },
      { role: 'user', parts: [{ type: 'text', text: 'x' }] },
    ]);
    expect(request.requires).toEqual([{ capability: 'image_input', param: 'messages[2].content[1]' }]);
    expect(request.sizes.images).toBe(1);
  });

  it.each<[JsonObject, string]>([
    [{ tools: [{ type: 'web_search_20260318', name: 'web_search' }] }, 'same_dialect tools[0].type'],
    [{ container: 'c_1' }, 'same_dialect container'],
    [{ mcp_servers: [{ name: 'm' }] }, 'same_dialect mcp_servers'],
    [{ context_management: { edits: [{ type: 'compact_20260112' }] } }, 'same_dialect context_management'],
    [{ context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } }, ''],
    [{ context_management: { edits: [] } }, ''],
    [
      { messages: [user({ type: 'search_result', source: 's' })] },
      'same_dialect messages[0].content[0].type',
    ],
    [
      { messages: [user({ type: 'image', source: { type: 'file', file_id: 'f' } })] },
      'image_input messages[0].content[0]',
    ],
    [{ max_tokens: 0 }, 'same_dialect max_tokens'],
    [{ thinking: { type: 'between_tools' } }, 'same_dialect thinking'],
    [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, ''],
    [{ thinking: { type: 'adaptive' } }, ''],
    [{ thinking: { type: 'disabled' } }, ''],
    [
      { messages: [user({ type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } })] },
      'document_input messages[0].content[0]',
    ],
    [{ mcp_servers: [], container: null }, ''],
  ])('asks of a route what %j needs', (changes, needs) => {
    const found = read(changes).requires.map(({ capability, param }) => `${capability} ${param}`);
    expect(found.join(', ')).toBe(needs);
  });

  it.each<[JsonObject, JsonObject | null]>([
    [{}, null],
    [{ thinking: { type: 'disabled' } }, { effort: 'none', maxTokens: null, exclude: true }],
    [
      { thinking: { type: 'enabled', budget_tokens: 1500 }, output_config: { effort: 'low' } },
      { effort: null, maxTokens: 1500, exclude: false },
    ],
    [
      { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'max' } },
      { effort: 'max', maxTokens: null, exclude: true },
    ],
  ])('reads the reasoning of %j', (changes, reasoning) => {
    expect(read(changes).reasoning).toEqual(reasoning);
  });

  it('keeps unknown members apart and measures what was sent', () => {
    const request = read({ something: [1], system: 'größe', tools: [tool()] });
    expect(request.unknown).toEqual({ something: [1] });
    const definition = 'look' + JSON.stringify({ type: 'object' });
    expect(request.sizes.textBytes).toBe(Buffer.byteLength(`größehi${definition}`));
    // The instructions that the provider puts before tools.
    expect(request.sizes.nativeBytes).toBe(4 * 530);
    expect(read({ tools: [] }).sizes).not.toHaveProperty('nativeBytes');
  });

  it.each([
    [45, { name: 'get_user_country', description: '' }, 398],
    [87, { name: 'get_file', description: '' }, 558],
  ])('weighs %s bytes and a small tool at no less than Claude counted', (bytes, named, counted) => {
    const input_schema = { additionalProperties: false, properties: {}, type: 'object' };
    const messages = [{ role: 'user', content: 'x'.repeat(bytes) }];
    const { textBytes, nativeBytes = 0 } = read({ messages, tools: [{ ...named, input_schema }] }).sizes;
    const tokens = (textBytes + nativeBytes) / 4;
    expect(tokens).toBeGreaterThanOrEqual(counted);
    expect(tokens).toBeLessThan(1.5 * counted);
  });

  it('weighs tools of the provider’s own by what they are', () => {
    const weighed = (...tools: JsonObject[]): number => read({ tools }).sizes.nativeBytes ?? 0;
    const bash = { type: 'bash_20250124', name: 'bash' };
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 3 };
    expect(weighed(bash)).toBe(weighed(tool()) + JSON.stringify(bash).length + 4 * 245);
    expect(weighed(search, bash)).toBe(weighed(bash) + JSON.stringify(search).length);
  });
});

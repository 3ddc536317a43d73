import { ApiError } from '@gateway/contracts';
import { BodyFault, parseBody } from '@gateway/json-body';
import { dialect as chat } from '../chat/chat.dialect.js';
import { dialect as messages } from '../messages/messages.dialect.js';
import type { RouteTarget } from '../../translation/translation.js';
import type { ModelRequest } from '../model-request.js';
import { encodeRequest, unsupported } from './encode-request.js';
import { jsonOf, read, TARGET } from './responses.fixture.js';
import { compactionItem } from './compaction.js';
import { seal } from './sealed-reasoning.js';

const MODEL = 'acme/model';
const call = (id: string, more: object = {}): object => ({
  type: 'function_call',
  call_id: id,
  name: 'look',
  arguments: '{}',
  ...more,
});
const output = (id: string): object => ({ type: 'function_call_output', call_id: id, output: `out ${id}` });
const said = (content: string): object => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: content }],
});
const of = (...input: object[]): ModelRequest => read({ model: MODEL, input });
const roles = ({ turns }: ModelRequest): string[] => turns.map(({ role }) => role);
const refusal = (body: object): ApiError => {
  try {
    read({ model: MODEL, ...body });
  } catch (error) {
    if (error instanceof ApiError) return error;
  }
  throw new Error('it was read');
};
const toChat = (request: ModelRequest): Record<string, unknown> =>
  jsonOf(chat.upstream.encode(request, { ...TARGET, dialect: 'chat' }).request.pieces);

describe('reading a responses request', () => {
  it('RESP-05 reads a text, and instructions before it', () => {
    const request = read({ model: MODEL, input: 'Hello', instructions: 'Be kind' });
    expect(request.turns).toEqual([
      { role: 'system', parts: [{ type: 'text', text: 'Be kind' }] },
      { role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
    ]);
    expect(request.sizes.textBytes).toBe(12);
  });

  it('RESP-05 puts parallel calls into one turn and their outputs directly after it (bug 37)', () => {
    const request = of(
      { role: 'user', content: 'Go' },
      said('Looking'),
      call('a'),
      call('b'),
      { role: 'user', content: 'Meanwhile' },
      output('b'),
      output('a'),
    );
    expect(roles(request)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(request.turns[1].parts.map(({ type }) => type)).toEqual(['text', 'tool_call', 'tool_call']);
    const { messages: sent } = toChat(request) as { messages: { role: string; tool_call_id?: string }[] };
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
    expect(sent.slice(2, 4).map(({ tool_call_id: id }) => id)).toEqual(['b', 'a']);
  });

  it.each([
    [{ input: [call('a')] }, ['input', 0], 'unanswered_tool_call'],
    [{ input: [output('a')] }, ['input', 0, 'call_id'], 'unknown_tool_call'],
    [{ input: [call('a', { arguments: '{' }), output('a')] }, ['input', 0, 'arguments'], 'json_invalid'],
    [{ input: [{ role: 'robot', content: 'x' }] }, ['input', 0, 'role'], 'enum'],
    [{ input: [{ role: 'user' }] }, ['input', 0, 'content'], 'missing'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'ftp://x' }] }] },
      ['input', 0, 'content', 0, 'image_url'],
      'invalid_url',
    ],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'http://a.example/b.png' }] }] },
      ['input', 0, 'content', 0, 'image_url'],
      'invalid_url',
    ],
    [
      { input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'http://a.example/b.pdf' }] }] },
      ['input', 0, 'content', 0, 'file_url'],
      'invalid_url',
    ],
    [{}, ['input'], 'missing'],
    [{ input: 'x', service_tier: 'ultrafast' }, ['service_tier'], 'enum'],
    [{ input: 'x', temperature: 3 }, ['temperature'], 'maximum'],
    [{ input: 'x', stream_options: {} }, ['stream_options'], 'conflict'],
    [{ input: 'x', tool_choice: { type: 'function', name: 'no' } }, ['tool_choice', 'name'], 'unknown_tool'],
    [{ input: 'x', tools: [{ type: 'function' }] }, ['tools', 0, 'name'], 'missing'],
    [
      { input: 'x', conversation: 'conv_1', previous_response_id: 'resp_1' },
      ['previous_response_id'],
      'conflict',
    ],
    [{ input: 'x', previous_response_id: 'r'.repeat(257) }, ['previous_response_id'], 'max_length'],
    [{ input: 'x', conversation: 'c'.repeat(257) }, ['conversation'], 'max_length'],
    [{ input: 'x', conversation: { id: 'c'.repeat(257) } }, ['conversation', 'id'], 'max_length'],
  ])('ERR-05 422 %j', (body, loc, type) => {
    const error = refusal(body);
    expect([error.code, error.status]).toEqual(['validation_error', 422]);
    expect(error.options.details?.[0]).toMatchObject({ loc, type });
  });

  it.each([
    [{ input: [{ type: 'web_search_call', id: 'ws_1' }] }, 'input[0].type'],
    [{ input: [{ type: 'from_the_future' }] }, 'input[0].type'],
    [{ input: 'x', tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    [{ input: 'x', prompt: { id: 'pmpt_1' } }, 'prompt'],
  ])('RESP-05 needs an upstream of the format for %j', (body, param) => {
    const { requires } = read({ model: MODEL, ...body });
    expect(requires).toContainEqual(expect.objectContaining({ capability: 'same_dialect', param }));
  });

  it.each([
    [[{ type: 'custom', name: 'sql' }], 'tools[0].type'],
    [
      [
        {
          type: 'namespace',
          name: 'db',
          tools: [
            { type: 'function', name: 'a' },
            { type: 'custom', name: 'sql' },
          ],
        },
      ],
      'tools[0].tools[1].type',
    ],
  ])('RESP-05 names a custom tool by where it stands, and its type: %j', (tools, param) => {
    const { requires } = read({ model: MODEL, input: 'x', tools });
    expect(requires).toContainEqual({ capability: 'custom_tools', param, value: 'custom' });
  });

  it('RESP-05 flattens the tools of a namespace', () => {
    const tools = [
      { type: 'namespace', name: 'fs', tools: [{ type: 'function', name: 'read', parameters: {} }] },
    ];
    const request = read({
      model: MODEL,
      input: [call('a', { name: 'read', namespace: 'fs' }), output('a')],
      tools,
    });
    expect(request.tools.map(({ name }) => name)).toEqual(['fs__read']);
    expect(request.turns[0].parts[0]).toMatchObject({ name: 'fs__read' });
  });

  it.each([
    [{ top_logprobs: 3 }, { logprobs: true, top_logprobs: 3 }],
    [{ include: ['message.output_text.logprobs'] }, { logprobs: true }],
    [
      { include: ['message.output_text.logprobs'], top_logprobs: 0 },
      { logprobs: true, top_logprobs: 0 },
    ],
    [{}, {}],
  ])('RESP-05 asks an upstream of chat completions for the logprobs of %j', (more, members) => {
    const { logprobs, top_logprobs } = toChat(read({ model: MODEL, input: 'x', ...more }));
    expect(JSON.parse(JSON.stringify({ logprobs, top_logprobs }))).toEqual(members);
  });

  it('RESP-05 keeps a signature of another family, and gives it back to that family alone', () => {
    const encrypted_content = seal({ format: 'anthropic', signature: 'sig', text: 'Thought' });
    const reasoning = { type: 'reasoning', id: 'rs_gw1', summary: [], encrypted_content };
    const request = of({ role: 'user', content: 'Go' }, reasoning, call('a'), output('a'));
    const { messages: sent } = jsonOf(
      messages.upstream.encode(request, { ...TARGET, reasoning: { style: 'adaptive' } }).request.pieces,
    ) as { messages: { content: object[] }[] };
    expect(sent[1].content[0]).toEqual({ type: 'thinking', thinking: 'Thought', signature: 'sig' });
    expect(jsonOf(encodeRequest(request, TARGET).request.pieces)).toMatchObject({
      input: [{ role: 'user' }, { type: 'function_call' }, { type: 'function_call_output' }],
    });
  });

  it('RESP-05 asks for no choice among no tools, which upstreams of chat completions refuse', () => {
    for (const tool_choice of ['auto', 'none'])
      expect(toChat(read({ model: MODEL, input: 'x', tools: [], tool_choice }))).toEqual({
        model: 'native-model',
        messages: [{ role: 'user', content: 'x' }],
      });
  });

  it('RESP-05 takes a compaction of its own for the conversation it stands for', () => {
    const request = of(compactionItem('cmp_1', 'They greeted.'), { role: 'user', content: 'Go on' });
    expect(request.requires).toEqual([]);
    expect(request.turns[0].parts[0]).toMatchObject({
      text: expect.stringContaining('They greeted.') as string,
    });
  });
});

describe('sending a responses request', () => {
  const chatRequest = (body: object): ModelRequest => {
    const bytes = Buffer.from(JSON.stringify({ model: MODEL, ...body }));
    return chat.caller.read({
      value: JSON.parse(bytes.toString()) as Record<string, unknown>,
      bytes,
      members: [],
    });
  };

  it('RESP-05 passes the caller’s own bytes on, with the provider’s model and without what it refuses', () => {
    const request = read({
      model: MODEL,
      input: 'Hello',
      unknown_member: 1,
      tools: [{ type: 'web_search' }],
      temperature: 0.1,
    });
    const { request: sent, ignored } = encodeRequest(request, { ...TARGET, fixesSampling: true });
    expect(jsonOf(sent.pieces)).toEqual({
      model: 'native-model',
      input: 'Hello',
      tools: [{ type: 'web_search' }],
    });
    expect([sent.path, ignored]).toEqual(['/responses', ['temperature', 'unknown_member']]);
  });

  it('RESP-05 writes a chat request as items, and keeps nothing at the provider', () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
    const request = chatRequest({
      messages: [
        { role: 'system', content: 'Be kind' },
        { role: 'user', content: 'Hello' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'seen' },
      ],
      tools,
      tool_choice: 'required',
      max_tokens: 50,
      reasoning: { effort: 'minimal' },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', schema: { type: 'object' }, strict: true },
      },
      seed: 1,
    });
    const { request: sent, ignored } = encodeRequest(request, TARGET);
    expect(jsonOf(sent.pieces)).toEqual({
      model: 'native-model',
      input: [
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Be kind' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
        { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'seen' },
      ],
      store: false,
      max_output_tokens: 50,
      tools: [
        { type: 'function', name: 'look', parameters: { type: 'object', properties: {} }, strict: false },
      ],
      tool_choice: 'required',
      text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true } },
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    });
    expect(ignored).toEqual(['seed']);
  });

  it('RESP-05 answers a custom call by an item of its own kind', () => {
    const request = chatRequest({
      messages: [
        { role: 'user', content: 'Hello' },
        {
          role: 'assistant',
          tool_calls: [
            { id: 'a', type: 'custom', custom: { name: 'sql', input: 'select 1' } },
            { id: 'b', type: 'function', function: { name: 'look', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: '1' },
        { role: 'tool', tool_call_id: 'b', content: 'seen' },
      ],
    });
    const { input } = jsonOf(encodeRequest(request, TARGET).request.pieces);
    expect((input as object[]).slice(1)).toEqual([
      { type: 'custom_tool_call', call_id: 'a', name: 'sql', input: 'select 1' },
      { type: 'function_call', call_id: 'b', name: 'look', arguments: '{}' },
      { type: 'custom_tool_call_output', call_id: 'a', output: '1' },
      { type: 'function_call_output', call_id: 'b', output: 'seen' },
    ]);
  });

  describe('with cache markers', () => {
    const CACHING: RouteTarget = { ...TARGET, quirks: { cacheBreakpoints: true } };
    const BREAKPOINT = { prompt_cache_breakpoint: { mode: 'explicit' } };
    const marker = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    const of = (dialect: typeof chat | typeof messages, body: object): ModelRequest => {
      const parsed = parseBody(Buffer.from(JSON.stringify({ model: MODEL, max_tokens: 9, ...body })));
      if (parsed instanceof BodyFault) throw new TypeError(parsed.detail.msg);
      return dialect.caller.read(parsed);
    };
    const sent = (request: ModelRequest, target: RouteTarget): [unknown, readonly string[]] => {
      const { request: written, ignored } = encodeRequest(request, target);
      return [jsonOf(written.pieces).input, ignored];
    };
    const texts = (count: number, more: object): object[] =>
      [...Array(count).keys()].map((n) => ({ type: 'text', text: `${n}`, ...more }));

    it('RESP-05 writes those of messages as breakpoints, results of tools too, without their lifetime', () => {
      const request = of(messages, {
        system: [{ type: 'text', text: 'Be kind', ...marker }],
        tools: [{ name: 'look', input_schema: { type: 'object' } }],
        messages: [
          { role: 'user', content: 'Go' },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'seen', ...marker }] },
        ],
      });
      const [input, ignored] = sent(request, CACHING);
      expect(input).toEqual([
        {
          type: 'message',
          role: 'system',
          content: [{ type: 'input_text', text: 'Be kind', ...BREAKPOINT }],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go' }] },
        { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'a',
          output: [{ type: 'input_text', text: 'seen', ...BREAKPOINT }],
        },
      ]);
      expect(ignored).toEqual([]);
    });

    it.each([BREAKPOINT, marker])(
      'RESP-05 keeps the last 4 of a chat request, and reports the rest: %j',
      (more) => {
        const request = of(chat, { messages: [{ role: 'user', content: texts(6, more) }] });
        const [input, ignored] = sent(request, CACHING);
        const [{ content }] = input as { content: object[] }[];
        expect(content.map((part) => 'prompt_cache_breakpoint' in part)).toEqual([
          ...[false, false],
          ...[true, true, true, true],
        ]);
        expect(ignored).toEqual(Object.keys(more));
      },
    );

    it('RESP-05 reports those of tools and of answers, which OpenAI refuses there', () => {
      const request = of(messages, {
        tools: [{ name: 'look', input_schema: { type: 'object' }, ...marker }],
        messages: [
          { role: 'user', content: 'Go' },
          { role: 'assistant', content: texts(1, marker) },
          { role: 'user', content: texts(1, marker) },
        ],
      });
      const [input, ignored] = sent(request, CACHING);
      expect(JSON.stringify(input).match(/prompt_cache_breakpoint/g)).toHaveLength(1);
      expect((input as { content: object[] }[])[2].content[0]).toEqual({
        type: 'input_text',
        text: '0',
        ...BREAKPOINT,
      });
      expect(ignored).toEqual(['cache_control']);
    });

    it('RESP-05 sends none to a model that takes none, and reports them', () => {
      const request = of(messages, { messages: [{ role: 'user', content: texts(1, marker) }] });
      expect(sent(request, TARGET)).toEqual([
        [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: '0' }] }],
        ['cache_control'],
      ]);
    });

    it('RESP-05 takes one of the whole messages request for what OpenAI does by itself', () => {
      const request = of(messages, { messages: [{ role: 'user', content: 'Go' }], ...marker });
      expect([sent(request, CACHING)[1], sent(request, TARGET)[1]]).toEqual([[], ['cache_control']]);
    });
  });

  it.each([
    [{ n: 2 }, 'n'],
    [{ stop: ['x'] }, 'stop'],
    [{ logit_bias: { 1: 1 } }, 'logit_bias'],
  ])('ERR-34 cannot serve %j, and names it', (more, param) => {
    const request = chatRequest({ messages: [{ role: 'user', content: 'Hello' }], ...more });
    expect(unsupported(request, TARGET)).toBe(param);
  });
});

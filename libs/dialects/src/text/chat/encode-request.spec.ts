import { BodyFault, parseBody } from '@gateway/json-body';
import type { Quirks, RouteTarget } from '../../translation/translation.js';
import type { ModelRequest, Turn } from '../model-request.js';
import { dialect } from './chat.dialect.js';
import { bodyOf, sent, target } from './chat-samples.fixture.js';
import { objectOf, objectsOf, type JsonObject } from '../../body/json-object.js';

const USER = { role: 'user', content: 'Hi' };

interface Encoded {
  body: JsonObject;
  ignored: string[];
}

function spliced(body: JsonObject, quirks: Quirks = {}, more: Partial<RouteTarget> = {}): Encoded {
  const request = dialect.caller.read(bodyOf({ model: 'acme/large', messages: [USER], ...body }));
  const encoded = dialect.upstream.encode(request, target(quirks, more));
  return { body: sent(encoded), ignored: encoded.ignored };
}

describe('a request of the same dialect', () => {
  it('goes on byte for byte but for the model', () => {
    const text =
      '{ "model" : "acme/large", "temperature": 1.0, "messages": [ {"role":"user","content":"\\u00e9"} ] }';
    const request = dialect.caller.read(parsed(text));
    const { pieces } = dialect.upstream.encode(request, target()).request;
    const upstream = Buffer.concat(pieces).toString('utf8');
    expect(upstream).toContain('"temperature": 1.0, "messages": [ {"role":"user","content":"\\u00e9"} ]');
    expect(upstream).toContain('"model":"large-2026"');
  });

  it('U13 coerces, adds and removes nothing: unknown members go on where they stand', () => {
    const body = {
      messages: [{ ...USER, odd: '1' }],
      tools: [{ type: 'function', odd: [1], function: { name: 'f', parameters: { odd: true }, odd: 1.5 } }],
      response_format: { type: 'json_object', odd: null },
      temperature: 1,
    };
    expect(spliced(body).body).toEqual({ model: 'large-2026', ...body });
    expect(spliced({ ...body, odd: { a: '2' } }, { passthroughParams: true }).body).toEqual({
      model: 'large-2026',
      ...body,
      odd: { a: '2' },
    });
    for (const wrong of [{ temperature: '1' }, { stream: 'true' }, { max_tokens: '5' }, { n: null, stop: 5 }])
      expect(() => spliced({ ...body, ...wrong })).toThrow();
  });

  it('CHAT-20 hands an image on as it came, and cache markers with it', () => {
    const content = [
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=', detail: 'low' } },
      { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } },
    ];
    expect(spliced({ messages: [{ role: 'user', content }] }).body.messages).toEqual([
      { role: 'user', content },
    ]);
  });

  it('CHAT-14 takes a reply back as SDKs hold it, without what only readers know', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'x', arguments: '{"a":1}' } };
    const held = {
      role: 'assistant',
      content: null,
      refusal: null,
      annotations: [],
      parsed: null,
      tool_calls: [{ ...call, function: { ...call.function, parsed_arguments: { a: 1 } } }],
    };
    const result = { role: 'tool', tool_call_id: 'c1', content: 'done' };
    expect(spliced({ messages: [USER, held, result] }).body.messages).toEqual([
      USER,
      { role: 'assistant', content: null, refusal: null, tool_calls: [call] },
      result,
    ]);
  });

  it('CHAT-21 sends sampling on, and reports it where the model fixes it', () => {
    expect(spliced({ temperature: 0.5 }).body.temperature).toBe(0.5);
    const fixed = spliced({ temperature: 0.5, top_p: 0.1, presence_penalty: 1 }, {}, { fixesSampling: true });
    expect(fixed.body).not.toHaveProperty('temperature');
    expect(fixed.ignored).toEqual(['temperature', 'top_p', 'presence_penalty']);
  });

  it('asks for usage on streams, unless the provider cannot be asked', () => {
    expect(spliced({ stream: true }).body.stream_options).toEqual({ include_usage: true });
    const both = spliced({
      stream: true,
      stream_options: { include_usage: false, include_obfuscation: false },
    });
    expect(both.body.stream_options).toEqual({ include_usage: true, include_obfuscation: false });
    const never = spliced(
      { stream: true, stream_options: { include_usage: true } },
      { includeUsageOption: false },
    );
    expect(never.body).not.toHaveProperty('stream_options');
    expect(spliced({}).body).not.toHaveProperty('stream_options');
  });

  it('names the output limit as the provider does, and makes none up (bug 42)', () => {
    expect(spliced({ max_tokens: 5 }).body).toMatchObject({ max_completion_tokens: 5 });
    expect(spliced({ max_tokens: 5 }).body).not.toHaveProperty('max_tokens');
    const old = spliced({ max_completion_tokens: 5 }, { maxTokensParam: 'max_tokens' }).body;
    expect(old).toMatchObject({ max_tokens: 5 });
    expect(old).not.toHaveProperty('max_completion_tokens');
    expect(Object.keys(spliced({}).body)).toEqual(['messages', 'model']);
  });

  it('CHAT-32 CHAT-33 asks for reasoning as the route wants it', () => {
    expect(spliced({ reasoning: { effort: 'low' }, reasoning_effort: 'high' }).body).toMatchObject({
      reasoning_effort: 'low',
    });
    expect(spliced({ reasoning: { effort: 'low' } }).body).not.toHaveProperty('reasoning');
    const few: Partial<RouteTarget> = { reasoning: { style: 'effort', efforts: ['low', 'medium', 'high'] } };
    expect(spliced({ reasoning_effort: 'max' }, {}, few).body.reasoning_effort).toBe('high');
    expect(spliced({ reasoning_effort: 'none' }, {}, few).body.reasoning_effort).toBe('low');
    expect(
      spliced({ reasoning: { max_tokens: 4_000 }, max_tokens: 10_000 }, {}, few).body.reasoning_effort,
    ).toBe('medium');
    const own = spliced({ reasoning: { max_tokens: 99, exclude: true } }, { reasoningParam: 'reasoning' });
    expect(own.body.reasoning).toEqual({ max_tokens: 99, exclude: true });
    const never = spliced({ reasoning_effort: 'high' }, { reasoningParam: 'none' });
    expect(never).toMatchObject({ ignored: ['reasoning_effort'] });
    expect(never.body).not.toHaveProperty('reasoning_effort');
    expect(spliced({ reasoning: { exclude: true } }).body).not.toHaveProperty('reasoning');
  });

  it('CHAT-34 CHAT-35 sends one end user, under a name the provider takes', () => {
    const both = spliced({ safety_identifier: 'a', user: 'b' }).body;
    expect(both).toMatchObject({ safety_identifier: 'a' });
    expect(both).not.toHaveProperty('user');
    expect(spliced({ user: 'b' }).body.user).toBe('b');
    expect(spliced({ safety_identifier: 'a' }, { refuses: ['safety_identifier'] }).body.user).toBe('a');
    expect(spliced({ user: 'b' }, { refuses: ['user', 'safety_identifier'] }).ignored).toEqual(['user']);
  });

  it('drops what the provider refuses and reports it, unless it asks for nothing', () => {
    const refuses = ['seed', 'n', 'store', 'verbosity'];
    const { body, ignored } = spliced({ seed: 1, n: 1, store: false, verbosity: 'low' }, { refuses });
    expect(Object.keys(body)).toEqual(['messages', 'model']);
    expect(ignored).toEqual(['seed', 'verbosity']);
  });

  it('drops members nobody knows and reports them, unless the provider passes them through', () => {
    const extra = { min_p: 0.1, top_k: 5, template: 't', variables: {}, memory: true };
    const { body, ignored } = spliced(extra);
    expect(Object.keys(body)).toEqual(['messages', 'model']);
    expect(ignored).toEqual(['min_p', 'top_k']);
    const through = spliced(extra, { passthroughParams: true });
    expect(through).toMatchObject({ body: { min_p: 0.1, top_k: 5 }, ignored: [] });
    expect(through.body).not.toHaveProperty('template');
    expect(through.body).not.toHaveProperty('memory');
  });

  it('sends metadata only with an answer that the provider stores', () => {
    expect(spliced({ metadata: { a: 'b' } })).toMatchObject({ ignored: ['metadata'] });
    expect(spliced({ metadata: { a: 'b' }, store: true }).body.metadata).toEqual({ a: 'b' });
  });

  it('spells seed, required and the system role as the provider does', () => {
    const quirks: Quirks = { seedParam: 'random_seed', requiredToolChoice: 'any', systemRole: 'system' };
    const tools = [{ type: 'function', function: { name: 'x' } }];
    const messages = [{ role: 'developer', content: 'Be brief.' }, USER];
    const { body } = spliced({ messages, tools, seed: 3, tool_choice: 'required' }, quirks);
    expect(body).toMatchObject({ random_seed: 3, tool_choice: 'any', messages: [{ role: 'system' }, USER] });
    expect(body).not.toHaveProperty('seed');
  });

  it('replaces tool call ids that the provider refuses, the same in call and result', () => {
    const messages = [
      USER,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'functions.look:0', type: 'function', function: { name: 'x', arguments: '' } }],
      },
      { role: 'tool', tool_call_id: 'functions.look:0', content: 'found', is_error: true },
    ];
    const [, asked, answered] = objectsOf(
      spliced({ messages }, { toolCallIdPattern: /^[a-zA-Z0-9]{9}$/ }).body.messages,
    );
    const [call] = objectsOf(asked.tool_calls);
    expect(call.id).toMatch(/^[a-zA-Z0-9]{9}$/);
    expect(answered).toEqual({ role: 'tool', tool_call_id: call.id, content: 'Error: found' });
    expect(objectOf(call.function).arguments).toBe('{}');
  });

  it('sends reasoning of earlier turns back only to whom it belongs (bug 39)', () => {
    const call = { id: 'a', type: 'function', function: { name: 'x', arguments: '{}' } };
    const said = { role: 'assistant', content: 'Hi', reasoning: 'hm' };
    const asked = { role: 'assistant', content: null, reasoning_content: 'hm', tool_calls: [call] };
    const messages = [USER, said, USER, asked, { role: 'tool', tool_call_id: 'a', content: 'found' }];
    const sentTo = (quirks: Quirks): readonly JsonObject[] =>
      objectsOf(spliced({ messages }, quirks).body.messages);
    expect(JSON.stringify(sentTo({}))).not.toContain('hm');
    const deepseek = sentTo({ returnsReasoning: 'reasoning_content' });
    expect(deepseek[1]).toEqual({ role: 'assistant', content: 'Hi' });
    expect(deepseek[3]).toEqual(asked);
    expect(sentTo({ returnsReasoning: 'reasoning' })[1]).toEqual(said);
  });

  it('asks with tools where the caller used functions', () => {
    const { body } = spliced({ functions: [{ name: 'look' }], function_call: 'auto' });
    expect(body).toMatchObject({
      tools: [{ type: 'function', function: { name: 'look' } }],
      tool_choice: 'auto',
      parallel_tool_calls: false,
    });
    expect(body).not.toHaveProperty('functions');
    expect(body).not.toHaveProperty('function_call');
  });
});

function parsed(text: string): ReturnType<typeof bodyOf> {
  const body = parseBody(Buffer.from(text));
  if (body instanceof BodyFault) throw new Error(body.detail.msg);
  return body;
}

const MESSAGES_BODY = bodyOf({ model: 'acme/large' });

function foreign(more: Partial<ModelRequest>): ModelRequest {
  const base = dialect.caller.read(bodyOf({ model: 'acme/large', messages: [USER] }));
  return {
    ...base,
    dialect: 'messages',
    callerNames: {
      stop: 'stop_sequences',
      endUser: 'metadata.user_id',
      reasoning: 'thinking',
      thoughts: 'messages.thinking',
    },
    body: MESSAGES_BODY,
    ...more,
  };
}

function encoded(more: Partial<ModelRequest>, quirks: Quirks = {}, to: Partial<RouteTarget> = {}): Encoded {
  const result = dialect.upstream.encode(foreign(more), target(quirks, to));
  return { body: sent(result), ignored: result.ignored };
}

describe('a request of another dialect', () => {
  it('is written with nothing that was not asked for', () => {
    expect(encoded({}).body).toEqual({ model: 'large-2026', messages: [USER] });
  });

  it('carries every parameter of the middle form', () => {
    const { body, ignored } = encoded({
      stream: true,
      maxOutputTokens: 7,
      sampling: {
        temperature: 0.1,
        topP: 0.2,
        topK: 3,
        seed: 4,
        frequencyPenalty: null,
        presencePenalty: null,
      },
      stop: ['a'],
      tools: [{ name: 'look', description: 'd' }],
      toolChoice: { mode: 'required' },
      parallelToolCalls: false,
      responseFormat: { kind: 'json_schema', name: 'output', schema: { type: 'object' }, strict: true },
      reasoning: { effort: 'high', maxTokens: null, exclude: false },
      endUser: 'u',
    });
    expect(body).toEqual({
      model: 'large-2026',
      messages: [USER],
      max_completion_tokens: 7,
      temperature: 0.1,
      top_p: 0.2,
      seed: 4,
      stop: ['a'],
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: 'd', parameters: { type: 'object', properties: {} } },
        },
      ],
      tool_choice: 'required',
      parallel_tool_calls: false,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'output', schema: { type: 'object' }, strict: true },
      },
      reasoning_effort: 'high',
      safety_identifier: 'u',
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(ignored).toEqual(['top_k']);
  });

  it('puts results directly after the calls, marks errors, and sends their images in a user message behind', () => {
    const turns: Turn[] = [
      {
        role: 'system',
        parts: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'hm', signature: 's' },
          { type: 'text', text: 'Looking.' },
          { type: 'tool_call', id: 'c1', name: 'look', arguments: '' },
          { type: 'tool_call', id: 'c2', name: 'look', arguments: '{"a":1}' },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool_result',
            toolCallId: 'c1',
            isError: false,
            parts: [{ type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AA==' } }],
          },
          { type: 'tool_result', toolCallId: 'c2', isError: true, parts: [{ type: 'text', text: 'no' }] },
        ],
      },
      { role: 'user', parts: [{ type: 'text', text: 'Go on.' }] },
    ];
    const messages = objectsOf(encoded({ turns }).body.messages);
    expect(messages.map(({ role }) => role)).toEqual(['system', 'assistant', 'tool', 'tool', 'user', 'user']);
    expect(messages[0].content).toBe('a\n\nb');
    expect(messages[1]).toEqual({
      role: 'assistant',
      content: 'Looking.',
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } },
        { id: 'c2', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
      ],
    });
    expect(messages[3]).toEqual({ role: 'tool', tool_call_id: 'c2', content: 'Error: no' });
    expect(messages[4].content).toMatchObject([
      { type: 'text' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
    ]);
    const [, kept] = objectsOf(encoded({ turns }, { returnsReasoning: 'reasoning_content' }).body.messages);
    expect(kept.reasoning_content).toBe('hm');
  });

  it('shortens names beyond 64 characters and finds the way back', () => {
    const long = 'mcp__'.padEnd(80, 'x');
    const turns: Turn[] = [
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'a', name: long, arguments: '{}' }] },
    ];
    const request = foreign({
      tools: [{ name: long }, { name: `${long}y` }],
      toolChoice: { mode: 'named', name: long },
      turns,
    });
    const result = dialect.upstream.encode(request, target());
    const names = Object.keys(result.toolNames ?? {});
    expect(names).toHaveLength(2);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(Object.values(result.toolNames ?? {})).toEqual([long, `${long}y`]);
    expect(sent(result)).toMatchObject({
      tools: [{ function: { name: names[0] } }, { function: { name: names[1] } }],
      tool_choice: { type: 'function', function: { name: names[0] } },
      messages: [{ tool_calls: [{ function: { name: names[0] } }] }],
    });
  });

  it('passes a route over that takes fewer stop sequences, and shortens a long end user', () => {
    const many = foreign({ stop: ['a', 'b', 'c', 'd', 'e'] });
    expect(dialect.upstream.unsupported(many, target())).toBe(many.callerNames.stop);
    expect(dialect.upstream.unsupported(foreign({ stop: ['a', 'b', 'c', 'd'] }), target())).toBeNull();
    expect(encoded({ endUser: 'u'.repeat(65) }).body.safety_identifier).toMatch(/^[0-9a-f]{64}$/);
  });

  it('reports hints, unknown members and fixed sampling as ignored', () => {
    const sampling = { ...foreign({}).sampling, temperature: 0.3 };
    const { body, ignored } = encoded(
      { hints: { context_management: {} }, unknown: { odd: 1 }, sampling, endUser: 'u' },
      { refuses: ['user', 'safety_identifier'] },
      { fixesSampling: true },
    );
    expect(body).toEqual({ model: 'large-2026', messages: [USER] });
    expect(ignored.sort()).toEqual(['context_management', 'metadata.user_id', 'odd', 'temperature']);
  });
});

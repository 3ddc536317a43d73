import type { JsonObject } from '../../body/json-object.js';
import fc from 'fast-check';
import type { RouteTarget } from '../../translation/translation.js';
import type { ModelRequest, Part, Turn } from '../model-request.js';
import { adaptive, ignored, sent } from './encode.fixture.js';
import { dialect } from './messages.dialect.js';
import { bodyOf, encoded, TARGET, translatedRequest } from './messages.fixture.js';
import { outputSchema } from './output-schema.js';

describe('parameters on a messages route', () => {
  it('bug 42: asks for what the model can, where the caller sets no limit', () => {
    expect(sent({}).max_tokens).toBe(8000);
    expect(sent({ maxOutputTokens: 5 }).max_tokens).toBe(5);
  });

  it('clamps the temperature and reports what finds no place', () => {
    const sampling = {
      temperature: 1.7,
      topP: 0.5,
      topK: 3,
      seed: 1,
      frequencyPenalty: 0,
      presencePenalty: null,
    };
    expect(sent({ sampling })).toMatchObject({ temperature: 1, top_k: 3 });
    expect(ignored({ sampling, hints: { verbosity: 'low' }, unknown: { new_one: 1 } })).toEqual([
      'top_p',
      'seed',
      'frequency_penalty',
      'verbosity',
      'new_one',
    ]);
    const fixed = sent({ sampling }, { fixesSampling: true });
    expect(fixed).not.toHaveProperty('temperature');
    expect(ignored({ sampling }, { fixesSampling: true })).toEqual(
      expect.arrayContaining(['temperature', 'top_k']),
    );
  });

  it('passes on what it does not know where the provider takes it, and replaces nothing of its own by it', () => {
    const unknown = { novel: 1, constructor: { valueOf: 2 }, model: 'another' };
    const { novel, model, ...rest } = sent({ unknown }, { quirks: { passthroughParams: true } });
    expect([novel, model]).toEqual([1, sent({}).model]);
    expect(Object.entries(rest)).toContainEqual(['constructor', { valueOf: 2 }]);
  });

  it('sends stop, end user, tier and stream in its own words', () => {
    expect(
      sent({ stop: ['END', ' ', ''], endUser: 'u1', serviceTier: 'default', stream: true }),
    ).toMatchObject({
      stop_sequences: ['END'],
      metadata: { user_id: 'u1' },
      service_tier: 'standard_only',
      stream: true,
    });
  });

  it('sends tools and every tool choice', () => {
    const tools = [{ name: 'a' }, { name: 'b', parameters: { properties: { x: {} } }, description: 'B' }];
    expect(sent({ tools })).toMatchObject({
      tools: [
        { name: 'a', input_schema: { type: 'object', properties: {} } },
        { name: 'b', description: 'B', input_schema: { type: 'object', properties: { x: {} } } },
      ],
    });
    const choice = (
      toolChoice: ModelRequest['toolChoice'],
      parallelToolCalls: boolean | null = null,
    ): unknown => sent({ tools, toolChoice, parallelToolCalls }).tool_choice;
    expect(choice(null)).toBeUndefined();
    expect(choice({ mode: 'required' })).toEqual({ type: 'any' });
    expect(choice({ mode: 'none' }, false)).toEqual({ type: 'none' });
    expect(choice({ mode: 'named', name: 'a' })).toEqual({ type: 'tool', name: 'a' });
    expect(choice(null, false)).toEqual({ type: 'auto', disable_parallel_tool_use: true });
    const allowed = sent({ tools, toolChoice: { mode: 'allowed', required: true, names: ['b'] } });
    expect(allowed).toMatchObject({ tools: [{ name: 'b' }], tool_choice: { type: 'any' } });
    expect(sent({ toolChoice: { mode: 'auto' } })).not.toHaveProperty('tool_choice');
  });

  it('bug 21: keeps the last 4 cache markers, an hour never after 5 minutes', () => {
    const part = (ttl: '5m' | '1h'): Part => ({ type: 'text', text: 'x', cache: { ttl } });
    const turns: Turn[] = [
      { role: 'system', parts: [part('1h'), part('1h')] },
      { role: 'user', parts: [part('5m'), part('1h'), part('5m')] },
    ];
    const { body, ignored: reported } = encoded(translatedRequest({ turns, hints: { cache_control: true } }));
    const marks = [
      ...(body.system as JsonObject[]),
      ...(body.messages as { content: JsonObject[] }[])[0].content,
    ];
    expect(marks.map(({ cache_control }) => cache_control)).toEqual([
      undefined,
      { type: 'ephemeral', ttl: '1h' },
      { type: 'ephemeral' },
      { type: 'ephemeral' },
      { type: 'ephemeral' },
    ]);
    expect(reported).toEqual(['cache_control']);
  });

  it('bug 14: asks for structured output natively, in the subset that it takes', () => {
    const schema = {
      $schema: 'x',
      title: 'T',
      type: 'object',
      properties: {
        n: { type: 'integer', minimum: 1, description: 'count' },
        d: { type: 'string', format: 'date' },
        p: { type: 'string', format: 'phone' },
        u: { oneOf: [{ $ref: '#/definitions/a' }, { type: 'null' }] },
        list: { type: 'array', items: { type: 'object' }, maxItems: 3 },
      },
      definitions: { a: { type: ['object', 'null'], properties: {} } },
    };
    const responseFormat = { kind: 'json_schema' as const, name: 'n', schema, strict: true };
    const body = sent(
      { responseFormat, reasoning: { effort: 'low', maxTokens: null, exclude: false } },
      adaptive,
    );
    expect(body).not.toHaveProperty('tool_choice');
    expect(body.output_config).toEqual({
      effort: 'low',
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            n: { type: 'integer', description: 'count (minimum: 1)' },
            d: { type: 'string', format: 'date' },
            p: { type: 'string', description: '(format: "phone")' },
            u: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] },
            list: {
              type: 'array',
              items: { type: 'object', additionalProperties: false },
              description: '(maxItems: 3)',
            },
          },
          $defs: { a: { type: ['object', 'null'], properties: {}, additionalProperties: false } },
          additionalProperties: false,
        },
      },
    });
    expect(sent({ responseFormat: { kind: 'json_object' } }).system).toMatchObject([{ type: 'text' }]);
  });

  it('sanitises any schema, and a sanitised one to itself', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (schema) => {
        const once = outputSchema(schema);
        expect(outputSchema(once)).toEqual(once);
      }),
      { examples: [[{ toString: [] }], [{ constructor: {} }]] },
    );
  });
});

describe('a caller of the messages dialect on a messages route', () => {
  const body =
    '{"model": "acme/claude", "max_tokens": 1e3, "temperature": 0.50, "messages": [{"role":"user","content":"hi"}], "container": "c_1", "novel": 1, "template": "t"}';
  const read = (text: string): ModelRequest => dialect.caller.read(bodyOf(text));
  const wire = (text: string, target: Partial<RouteTarget> = {}): [string, string[]] => {
    const result = dialect.upstream.encode(read(text), { ...TARGET, ...target });
    return [Buffer.concat(result.request.pieces).toString(), result.ignored];
  };

  it('MSG-05 passes the caller’s bytes on, but for the model and what no provider knows', () => {
    const [sentText, reported] = wire(body);
    expect(sentText).toBe(
      '{"max_tokens": 1e3, "temperature": 0.50, "messages": [{"role":"user","content":"hi"}], "container": "c_1","model":"claude-x"}',
    );
    expect(reported).toEqual(['novel']);
    expect(wire(body, { quirks: { passthroughParams: true } })[0]).toContain('"novel": 1');
  });

  it('sends its version, and the caller’s own version and betas where there are some', () => {
    const headersOf = (nativeHeaders: Record<string, string>): unknown =>
      dialect.upstream.encode({ ...read(body), nativeHeaders }, TARGET).request.headers;
    expect(headersOf({})).toEqual({ 'anthropic-version': '2023-06-01' });
    const own = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'skills-2025-10-02' };
    expect(headersOf(own)).toEqual(own);
  });

  describe('where the path names the model', () => {
    const place = {
      betas: /^skills-/,
      version: 'host-1',
      path: (model: string, isStream: boolean) => `/at/${model}:${isStream ? 'stream' : 'raw'}`,
    };
    const target = { ...TARGET, quirks: { messagesPlace: place } };

    it('sends the caller’s bytes with the host’s version in place of the model', () => {
      const { request } = dialect.upstream.encode(
        read(body.replace('"novel": 1', '"anthropic_version": "x"')),
        target,
      );
      expect([request.path, request.headers]).toEqual(['/at/claude-x:raw', {}]);
      expect(Buffer.concat(request.pieces).toString()).toBe(
        '{"max_tokens": 1e3, "temperature": 0.50, "messages": [{"role":"user","content":"hi"}], "container": "c_1","anthropic_version":"host-1"}',
      );
    });

    it('sends a translated stream there too, and of the caller’s headers the betas that the host takes', () => {
      const { request } = dialect.upstream.encode(translatedRequest({ stream: true }), target);
      expect([request.path, request.headers]).toEqual(['/at/claude-x:stream', {}]);
      expect(JSON.parse(Buffer.concat(request.pieces).toString())).toEqual({
        anthropic_version: 'host-1',
        max_tokens: 8000,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
        stream: true,
      });
      const betas = 'effort-2025-11-24,skills-2025-10-02';
      const nativeHeaders = { 'anthropic-version': '2026-10-21', 'anthropic-beta': betas };
      const own = dialect.upstream.encode({ ...read(body), nativeHeaders }, target).request;
      expect(own.headers).toEqual({ 'anthropic-beta': 'skills-2025-10-02' });
    });
  });

  it('MSG-05 asks a model that does not think without adaptive thinking and effort, and reports both', () => {
    const asked =
      '{"max_tokens":9,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"},"messages":[]}';
    const more = asked.replace(
      '"effort":"high"',
      '"effort":"high","format":{"type":"json_schema","schema":{}}',
    );
    for (const [text, output_config] of [
      [asked, undefined],
      [more, { format: { type: 'json_schema', schema: {} } }],
    ] as const) {
      const filled = text.replace('"messages":[]', '"messages":[{"role":"user","content":"hi"}]');
      const [sentText, reported] = wire(filled, { reasoning: { style: 'none' } });
      const sentBody = JSON.parse(sentText) as JsonObject;
      expect([sentBody.thinking, sentBody.output_config]).toEqual([undefined, output_config]);
      expect(reported).toEqual(['thinking', 'output_config.effort']);
      const thinks = wire(filled, { reasoning: { style: 'adaptive' } });
      expect([JSON.parse(thinks[0]), thinks[1]]).toMatchObject([{ thinking: { type: 'adaptive' } }, []]);
    }
  });

  it('leaves out and reports what the model or the provider refuses', () => {
    const [sentText, reported] = wire(body, { fixesSampling: true, quirks: { refuses: ['container'] } });
    expect(JSON.parse(sentText)).toEqual({
      model: 'claude-x',
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(reported).toEqual(['temperature', 'container', 'novel']);
  });

  it('takes out thinking that another family left in the history', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: '' };
    const text = { type: 'text', text: 'x' };
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [thinking, text] },
      { role: 'user', content: 'b' },
    ];
    const [sentText] = wire(JSON.stringify({ max_tokens: 5, messages }));
    expect(JSON.parse(sentText)).toMatchObject({ messages: [{}, { content: [text] }, {}] });
    expect(sentText).not.toContain('thinking');
  });
});

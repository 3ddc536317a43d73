import { parseSpelled, writeJson } from '@gateway/json-body';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { setupOf } from '../realtime/gemini/live-setup.js';
import { isEmptySchema, plainTool } from './plain-schema.js';
import { sent, user, type Json } from './upstream-requests.fixture.js';

const string = { type: 'string' };
const content = { type: 'object', properties: { content: string } };
const address = { type: 'object', properties: { source_url: string } };
const CHOICE = { type: 'object', anyOf: [content, address] };
const FOLDED = { type: 'object', properties: { content: string, source_url: string } };
const TOLD = 'Attaches.\n\nThe arguments are at least one of: (1) content; (2) source_url.';

const named = { name: 'attach', description: 'Attaches.' };
const ofChat = (parameters: Json): Json => ({
  messages: [user('x')],
  tools: [{ type: 'function', function: { ...named, parameters } }],
});
const ofResponses = (parameters: Json): Json => ({
  input: 'x',
  tools: [{ type: 'function', ...named, parameters }],
});
const ofMessages = (input_schema: Json): Json => ({
  max_tokens: 99,
  messages: [user('x')],
  tools: [{ ...named, input_schema }],
});

/** Place of the only tool of each upstream, and of the schema in it. */
const AT: Record<string, (body: Json) => unknown> = {
  chat: ({ tools }) => (tools as { function: unknown }[])[0].function,
  responses: ({ tools }) => (tools as unknown[])[0],
  messages: ({ tools }) => (tools as unknown[])[0],
  gemini: ({ tools }) => (tools as { functionDeclarations: unknown[] }[])[0].functionDeclarations[0],
  converse: ({ toolConfig }) => (toolConfig as { tools: { toolSpec: unknown }[] }).tools[0].toolSpec,
  cohere: ({ tools }) => (tools as { function: unknown }[])[0].function,
  ollama: ({ tools }) => (tools as { function: unknown }[])[0].function,
};
const SCHEMA_OF: Record<string, string> = {
  messages: 'input_schema',
  gemini: 'parametersJsonSchema',
  converse: 'inputSchema',
};

function toolSent(dialect: string, body: Json): { description: unknown; schema: unknown } {
  const tool = AT[dialect](sent(dialect, body).body) as Json;
  const schema = tool[SCHEMA_OF[dialect] ?? 'parameters'];
  return {
    description: tool.description,
    schema: dialect === 'converse' ? (schema as { json: unknown }).json : schema,
  };
}

const schemaOf = (parameters: Json): Json | undefined => plainTool({ name: 'a', parameters }).parameters;

describe('a tool whose schema is a choice at its top', () => {
  it.each([
    ['chat', 'messages', ofChat(CHOICE)],
    ['chat', 'converse', ofChat(CHOICE)],
    ['chat', 'gemini', ofChat(CHOICE)],
    ['chat', 'responses', ofChat(CHOICE)],
    ['chat', 'cohere', ofChat(CHOICE)],
    ['chat', 'ollama', ofChat(CHOICE)],
    ['responses', 'messages', ofResponses(CHOICE)],
    ['responses', 'chat', ofResponses(CHOICE)],
    ['responses', 'gemini', ofResponses(CHOICE)],
    ['responses', 'converse', ofResponses(CHOICE)],
    ['messages', 'chat', ofMessages(CHOICE)],
    ['messages', 'responses', ofMessages(CHOICE)],
    ['messages', 'gemini', ofMessages(CHOICE)],
    ['messages', 'converse', ofMessages(CHOICE)],
  ])('reaches from %s a model of %s as one object, with the choice told', (_caller, dialect, body) => {
    expect(toolSent(dialect, body)).toEqual({ description: TOLD, schema: FOLDED });
  });

  it('reaches a realtime session of Google’s so, too', () => {
    const session = { tools: [{ type: 'function', ...named, parameters: CHOICE }] };
    expect(setupOf(session, 'live-1')).toMatchObject({
      setup: {
        tools: [
          { functionDeclarations: [{ name: 'attach', description: TOLD, parametersJsonSchema: FOLDED }] },
        ],
      },
    });
  });

  it('stays as it came between two of one format', () => {
    expect(toolSent('chat', ofChat(CHOICE)).schema).toEqual(CHOICE);
    expect(toolSent('messages', ofMessages(CHOICE)).schema).toEqual(CHOICE);
  });

  it('is no longer strict, because not every member is required', () => {
    expect(plainTool({ name: 'a', parameters: CHOICE, strict: true }).strict).toBeUndefined();
    expect(plainTool({ name: 'a', parameters: { allOf: [content] }, strict: true }).strict).toBe(true);
  });
});

describe('what one object says of', () => {
  const CASES: [string, Json, Json, string?][] = [
    [
      'a choice without a type',
      { oneOf: [content, address] },
      FOLDED,
      'exactly one of: (1) content; (2) source_url',
    ],
    [
      'schemas that all hold, beside members',
      { type: 'object', properties: { id: string }, allOf: [{ ...content, required: ['content'] }, address] },
      {
        type: 'object',
        properties: { id: string, content: string, source_url: string },
        required: ['content'],
      },
    ],
    [
      'required members alone',
      { ...FOLDED, anyOf: [{ required: ['content'] }, { required: ['source_url'] }] },
      FOLDED,
      'at least one of: (1) content; (2) source_url',
    ],
    [
      'forms told apart by a constant',
      {
        oneOf: [
          { type: 'object', properties: { kind: { const: 'a' }, n: string }, required: ['kind', 'n'] },
          { type: 'object', properties: { kind: { const: 'b' } }, required: ['kind'] },
        ],
      },
      { type: 'object', properties: { kind: { enum: ['a', 'b'] }, n: string }, required: ['kind'] },
      'exactly one of: (1) kind = "a", n; (2) kind = "b"',
    ],
    [
      'one member in two forms',
      { anyOf: [content, { type: 'object', properties: { content: { type: 'number' } } }] },
      { type: 'object', properties: { content: { anyOf: [string, { type: 'number' }] } } },
      'at least one of: (1) content; (2) content',
    ],
    [
      'a member that the base and a form describe otherwise',
      {
        properties: { a: { type: 'string', maxLength: 9 } },
        allOf: [{ properties: { a: { maxLength: 5 } } }],
      },
      { type: 'object', properties: { a: { allOf: [{ type: 'string', maxLength: 9 }, { maxLength: 5 }] } } },
    ],
    [
      'a reference at the top',
      { $ref: '#/$defs/In', $defs: { In: { type: 'object', properties: { a: { $ref: '#/$defs/In' } } } } },
      {
        $defs: { In: { type: 'object', properties: { a: { $ref: '#/$defs/In' } } } },
        type: 'object',
        properties: { a: { $ref: '#/$defs/In' } },
      },
    ],
    [
      'a list of types',
      { type: ['object', 'null'], properties: { a: string } },
      { type: 'object', properties: { a: string } },
    ],
    ['an object or nothing', { anyOf: [content, { type: 'null' }] }, content],
    [
      'closed forms',
      { anyOf: [{ ...content, additionalProperties: false }] },
      { ...content, additionalProperties: false },
    ],
    ['what is not allowed', { ...content, not: { required: ['x'] } }, content, 'not: {"required":["x"]}'],
  ];
  it.each(CASES.map(([title, ...rest]) => ({ title, rest })))(
    '$title',
    ({ rest: [parameters, folded, told] }) => {
      const tool = plainTool({ name: 'a', parameters });
      expect(tool.parameters).toEqual(folded);
      if (told === undefined) expect(tool.description).toBeUndefined();
      else expect(tool.description).toContain(told);
    },
  );

  it('keeps combinators deeper down', () => {
    const parameters = { type: 'object', properties: { a: { oneOf: [string, { type: 'null' }] } } };
    expect(schemaOf(parameters)).toEqual(parameters);
  });

  it.each([
    ['in circles', { $ref: '#/$defs/A', $defs: { A: { $ref: '#/$defs/A' } } }],
    ['to itself', { $ref: '#' }],
    ['to nothing', { $ref: '#/$defs/A' }],
    ['elsewhere', { $ref: 'https://a.example/schema.json' }],
  ])('a reference %s ends', (_title, parameters) => {
    expect(schemaOf(parameters)).toMatchObject({ type: 'object', properties: {} });
  });

  it('choices within choices is bounded', () => {
    const level = (at: number): Json => ({ anyOf: [{ $ref: `#/$defs/${at}` }, { $ref: `#/$defs/${at}` }] });
    const $defs = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [at, level(at + 1)]));
    const { description, parameters } = plainTool({ name: 'a', parameters: { ...level(0), $defs } });
    expect(parameters).toMatchObject({ type: 'object' });
    expect(description?.length).toBeLessThanOrEqual(1_024);
  });
});

describe('a schema without members', () => {
  it('goes to Gemini where it says something', () => {
    const open = { type: 'object', additionalProperties: string };
    expect(toolSent('gemini', ofChat(open)).schema).toEqual({ properties: {}, ...open });
    expect(
      toolSent('gemini', ofChat({ type: 'object', patternProperties: { '^x': string } })).schema,
    ).toBeDefined();
    expect(
      toolSent('gemini', ofChat({ type: 'object', properties: {}, additionalProperties: false })).schema,
    ).toBeUndefined();
    expect(isEmptySchema({})).toBe(true);
  });

  it('goes to OpenAI with an empty list of them', () => {
    expect(toolSent('chat', ofResponses({})).schema).toEqual({ type: 'object', properties: {} });
  });
});

describe('any schema', () => {
  const value = fc.constantFrom<Json>(string, { type: 'number' }, { const: 'x' }, { enum: ['x', 1] }, {});
  const properties = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { noNullPrototype: true });
  const required = fc.subarray(['a', 'b', 'c']);
  const closed = fc.record({
    type: fc.constant('object'),
    properties,
    required,
    additionalProperties: fc.constant(false),
  });
  const some = fc.array(closed, { minLength: 1, maxLength: 3 });
  const schema = fc.record(
    { type: fc.constant('object'), properties, required, anyOf: some, oneOf: some, allOf: some },
    { requiredKeys: [] },
  );
  const input = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom<unknown>('x', 'y', 1, true), {
    noNullPrototype: true,
  });

  it('becomes one object that takes every input of the schema', () => {
    const ajv = new Ajv({ strict: false });
    fc.assert(
      fc.property(schema, fc.array(input, { maxLength: 8 }), (parameters, inputs) => {
        const folded = schemaOf(parameters);
        for (const name of ['anyOf', 'oneOf', 'allOf', 'not', 'enum', '$ref'])
          expect(folded).not.toHaveProperty(name);
        expect(folded?.type).toBe('object');
        const [before, after] = [ajv.compile(parameters), ajv.compile(folded ?? {})];
        for (const one of inputs) if (before(one)) expect(after(one)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('keeps numbers that no double holds: as values of a choice, and in the words of it', () => {
    const branch = (id: string): string => `{"type":"object","properties":{"id":{"const":${id}}}}`;
    const text = `{"anyOf":[${branch('9223372036854775807')},${branch('9223372036854775806')}]}`;
    const { description, parameters } = plainTool({ name: 'look', parameters: parseSpelled(text) as Json });
    expect(writeJson(parameters)).toContain(
      '{"anyOf":[{"const":9223372036854775807},{"const":9223372036854775806}]}',
    );
    expect(description).toContain('(1) id = 9223372036854775807; (2) id = 9223372036854775806');
  });
});

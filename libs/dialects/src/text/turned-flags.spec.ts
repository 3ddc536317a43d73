import { TEXT_DIALECTS } from '../families.generated.js';
import { sent, user, type Json } from './upstream-requests.fixture.js';

/** Flags that a turned boolean would send wrong way round, for every upstream format and both callers'. */
const UPSTREAMS = [...TEXT_DIALECTS].filter(([, { upstream }]) => upstream).map(([name]) => name);
const parameters = { type: 'object', properties: { a: { type: 'string' } } };

function chatBody(strict: boolean | undefined, isError?: boolean): Json {
  const fn = { name: 'look', parameters, strict };
  const calls = [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }];
  const result = { role: 'tool', tool_call_id: 'c1', content: 'found', is_error: isError };
  const messages = [user('x'), { role: 'assistant', content: null, tool_calls: calls }, result];
  return { messages, tools: [{ type: 'function', function: fn }] };
}

function messagesBody(strict: boolean | undefined, isError?: boolean): Json {
  const use = { type: 'tool_use', id: 'c1', name: 'look', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'c1', content: 'found', is_error: isError };
  const messages = [user('x'), { role: 'assistant', content: [use] }, user([result])];
  return { max_tokens: 9, messages, tools: [{ name: 'look', input_schema: parameters, strict }] };
}

const CALLERS = { chat: chatBody, messages: messagesBody };

/** Forms of a strict tool, and of one that is not. */
const STRICT: Record<string, readonly [string, string]> = {
  chat: ['"strict":true', '"parameters":'],
  cohere: ['"strict_tools":true', '"parameters":'],
  converse: ['"strict":true', '"inputSchema":'],
  gemini: ['"mode":"VALIDATED"', '"parametersJsonSchema":'],
  messages: ['"strict":true', '"input_schema":'],
  ollama: ['"parameters":', '"parameters":'],
  responses: ['"strict":true', '"strict":false'],
};

/** Forms of a result that is an error, and of one that is not. */
const FAILED: Record<string, readonly [string, string]> = {
  chat: ['"content":"Error: found"', '"content":"found"'],
  cohere: ['"content":"Error: found"', '"content":"found"'],
  converse: ['"status":"error"', '"text":"found"'],
  gemini: ['"response":{"error":"found"}', '"response":{"output":"found"}'],
  messages: ['"is_error":true', '"found"'],
  ollama: ['"content":"Error: found"', '"content":"found"'],
  responses: ['"output":"Error: found"', '"output":"found"'],
};

describe('a flag of the caller', () => {
  const text = (dialect: string, body: Json): string =>
    JSON.stringify(sent(dialect, body, { upstreamModel: 'gemini-3-pro' }).body);
  const cases = UPSTREAMS.flatMap((dialect) =>
    Object.entries(CALLERS).map(([caller, of]) => ({ dialect, caller, of })),
  );

  it.each(cases)('strict goes from $caller to $dialect as it is meant', ({ dialect, of }) => {
    const [on, off] = STRICT[dialect];
    expect(text(dialect, of(true))).toContain(on);
    for (const strict of [false, undefined]) {
      expect(text(dialect, of(strict))).toContain(off);
      if (on !== off) expect(text(dialect, of(strict))).not.toContain(on);
    }
  });

  it.each(cases)('is_error goes from $caller to $dialect as it is meant', ({ dialect, of }) => {
    const [on, off] = FAILED[dialect];
    expect(text(dialect, of(undefined, true))).toContain(on);
    for (const isError of [false, undefined]) {
      expect(text(dialect, of(undefined, isError))).toContain(off);
      expect(text(dialect, of(undefined, isError))).not.toContain(on);
    }
  });

  it('strict closes the schema only where the upstream asks for it', () => {
    for (const dialect of ['converse', 'messages']) {
      expect(text(dialect, chatBody(true))).toContain('"additionalProperties":false');
      expect(text(dialect, chatBody(false))).not.toContain('additionalProperties');
    }
  });

  it.each([
    ['chat', ['auto', 'default', 'flex']],
    ['responses', ['auto', 'default', 'flex']],
    ['messages', ['auto', 'standard_only', undefined]],
    ['gemini', [undefined, undefined, 'flex']],
    ['converse', [undefined, undefined, { type: 'flex' }]],
    ['cohere', [undefined, undefined, undefined]],
    ['ollama', [undefined, undefined, undefined]],
  ])('service_tier goes to %s under its own name', (dialect, expected) => {
    const tier = (service_tier: string | undefined): unknown => {
      const { body } = sent(dialect, { messages: [user('x')], service_tier });
      return body.service_tier ?? body.serviceTier;
    };
    expect(['auto', 'default', 'flex'].map(tier)).toEqual(expected);
    expect(tier(undefined)).toBeUndefined();
  });

  it.each([
    ['auto', 'auto'],
    ['standard_only', 'default'],
    [undefined, undefined],
  ])('service_tier %s of messages is %s elsewhere', (service_tier, expected) => {
    const body = { max_tokens: 9, messages: [user('x')], service_tier };
    expect(sent('chat', body).body.service_tier).toBe(expected);
  });
});

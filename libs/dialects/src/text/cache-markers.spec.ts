import { jest } from '@jest/globals';
import { sent, user, type Json } from './upstream-requests.fixture.js';

const FIVE = { cache_control: { type: 'ephemeral' } };
const HOUR = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const POINT = { prompt_cache_breakpoint: { mode: 'explicit' } };
const text = (value: string, more: Json): Json => ({ type: 'text', text: value, ...more });
const ping = (more: Json): Json => ({ type: 'function', function: { name: 'ping' }, ...more });
const CLAUDE = { upstreamModel: 'anthropic.claude-5' };

describe('a cache marker', () => {
  it.each(['gemini', 'cohere', 'ollama'])(
    'is named where %s has no place for it, as the caller spelled it',
    (dialect) => {
      const ignored = (more: Json): string[] =>
        sent(dialect, { messages: [user([text('a', more)])] }).ignored;
      expect(ignored(FIVE)).toEqual(['cache_control']);
      expect(ignored(POINT)).toEqual(['prompt_cache_breakpoint']);
      expect(ignored({})).toEqual([]);
      expect(sent(dialect, { messages: [user('a')], tools: [ping(FIVE)] }).ignored).toEqual([
        'cache_control',
      ]);
      const input = [{ role: 'user', content: [{ type: 'input_text', text: 'a', ...POINT }] }];
      expect(sent(dialect, { input }).ignored).toEqual(['prompt_cache_breakpoint']);
    },
  );

  it('is named for responses where the model takes none, or on what is no input', () => {
    const messages = [user([text('a', FIVE)])];
    const marking = { quirks: { cacheBreakpoints: true } };
    expect(sent('responses', { messages }).ignored).toEqual(['cache_control']);
    expect(sent('responses', { messages }, marking).ignored).toEqual([]);
    expect(sent('responses', { messages, tools: [ping(FIVE)] }, marking).ignored).toEqual(['cache_control']);
  });

  it('is no more than the fourth from the end on Bedrock, and of an hour only before those of 5 minutes', () => {
    const parts = [text('a', HOUR), text('b', HOUR), text('c', FIVE), text('d', HOUR)];
    const messages = [{ role: 'system', content: [text('s', HOUR)] }, user(parts)];
    const { body, ignored } = sent('converse', { messages, tools: [ping(HOUR)] }, CLAUDE);
    const hour = { cachePoint: { type: 'default', ttl: '1h' } };
    const five = { cachePoint: { type: 'default' } };
    expect((body.toolConfig as Json).tools).toHaveLength(1);
    expect(body.system).toEqual([{ text: 's' }]);
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: [{ text: 'a' }, hour, { text: 'b' }, hour, { text: 'c' }, five, { text: 'd' }, five],
      },
    ]);
    expect(ignored).toEqual(['cache_control']);
  });

  it('stays on Bedrock as it is where there are four of them in order', () => {
    const messages = [
      { role: 'system', content: [text('s', HOUR)] },
      user([text('a', HOUR), text('b', FIVE)]),
    ];
    const { body, ignored } = sent('converse', { messages, tools: [ping(HOUR)] }, CLAUDE);
    expect(JSON.stringify(body).match(/"ttl":"1h"/g)).toHaveLength(3);
    expect(JSON.stringify(body).match(/cachePoint/g)).toHaveLength(4);
    expect(ignored).toEqual([]);
  });

  it('of a whole request stands on Bedrock behind its last block, once', () => {
    const five = { cachePoint: { type: 'default' } };
    const asked = (content: unknown, cache: Json): Json =>
      sent('converse', { max_tokens: 9, messages: [user(content)], ...cache }, CLAUDE).body;
    const contentOf = (body: Json): unknown => (body.messages as Json[])[0].content;
    expect(contentOf(asked('a', FIVE))).toEqual([{ text: 'a' }, five]);
    expect(contentOf(asked('a', HOUR))).toEqual([
      { text: 'a' },
      { cachePoint: { type: 'default', ttl: '1h' } },
    ]);
    expect(contentOf(asked([text('a', FIVE)], HOUR))).toEqual([{ text: 'a' }, five]);
    expect(contentOf(asked('a', {}))).toEqual([{ text: 'a' }]);
  });

  it.each(['mistral.ministral-3', 'nvidia.nemotron-super-3', 'meta.llama4'])(
    'is none on Bedrock for %s, which refuses a request with any, and is named',
    (upstreamModel) => {
      const messages = [{ role: 'system', content: [text('s', HOUR)] }, user([text('a', FIVE)])];
      const { body, ignored } = sent('converse', { messages, tools: [ping(FIVE)] }, { upstreamModel });
      expect(JSON.stringify(body)).not.toContain('cachePoint');
      expect(ignored).toEqual(['cache_control']);
      expect(sent('converse', { messages: [user('a')] }, { upstreamModel }).ignored).toEqual([]);
    },
  );

  it('stays for a profile of which nobody can tell whose model it names', () => {
    const upstreamModel = 'arn:aws:bedrock:eu-west-1:1:application-inference-profile/z';
    const { body, ignored } = sent('converse', { messages: [user([text('a', FIVE)])] }, { upstreamModel });
    expect(JSON.stringify(body)).toContain('cachePoint');
    expect(ignored).toEqual([]);
  });

  it('is of 5 minutes and on no tool for Nova on Bedrock, and named where it was another', () => {
    const nova = { upstreamModel: 'us.amazon.nova-2-lite-v1:0' };
    const five = { cachePoint: { type: 'default' } };
    const messages = [{ role: 'system', content: [text('s', HOUR)] }, user([text('a', FIVE)])];
    const { body, ignored } = sent('converse', { messages, tools: [ping(FIVE)] }, nova);
    expect((body.toolConfig as Json).tools).toHaveLength(1);
    expect([body.system, body.messages]).toEqual([
      [{ text: 's' }, five],
      [{ role: 'user', content: [{ text: 'a' }, five] }],
    ]);
    expect(ignored).toEqual(['cache_control']);
    expect(sent('converse', { messages: [user([text('a', FIVE)])] }, nova).ignored).toEqual([]);
  });

  it('U14 of each of many parts on Bedrock costs no more than the parts do', () => {
    const parts = Array.from({ length: 15_000 }, () => text('a', FIVE));
    const splice = jest.spyOn(Array.prototype, 'splice');
    const { body } = sent('converse', { messages: [user(parts)] }, CLAUDE);
    expect(splice.mock.calls.length).toBeLessThan(100);
    splice.mockRestore();
    expect(JSON.stringify(body).match(/cachePoint/g)).toHaveLength(4);
  });
});

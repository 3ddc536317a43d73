import { sent, user, type Json } from './upstream-requests.fixture.js';

const HINTS = {
  prompt_cache_key: 'sess-1',
  prompt_cache_retention: '24h',
  prompt_cache_options: { ttl: '30m' },
};
const moderation = { model: 'omni-moderation-latest' };
const ofResponses = (more: Json = {}): Json => ({
  input: 'x',
  text: { verbosity: 'low' },
  ...HINTS,
  moderation,
  ...more,
});

describe('hints that both formats of OpenAI know', () => {
  it('go from responses to a model of chat completions', () => {
    const { body, ignored } = sent('chat', ofResponses({ metadata: { a: 'b' } }));
    expect(body).toMatchObject({ ...HINTS, moderation, verbosity: 'low' });
    // Chat completions take metadata of answers alone that the provider keeps; the gateway keeps it as tags.
    expect(ignored).toEqual(['metadata']);
  });

  it('go from chat completions to a model of responses', () => {
    const { body, ignored } = sent('responses', {
      messages: [user('x')],
      verbosity: 'low',
      ...HINTS,
      moderation,
    });
    expect(body).toMatchObject({ ...HINTS, moderation, text: { verbosity: 'low' } });
    expect(ignored).toEqual([]);
  });

  it('that a host refuses are named as the caller named them', () => {
    const quirks = { refuses: ['verbosity', 'prompt_cache_key'] };
    const { body, ignored } = sent('chat', ofResponses(), { quirks });
    expect(body).not.toHaveProperty('verbosity');
    expect(body).not.toHaveProperty('prompt_cache_key');
    expect(body.prompt_cache_retention).toBe('24h');
    expect(ignored.sort()).toEqual(['prompt_cache_key', 'text.verbosity']);
  });

  it('reach no format that has no word for them, and are named', () => {
    const { body, ignored } = sent('messages', ofResponses());
    expect(body).toMatchObject({ messages: [{ role: 'user' }] });
    expect(ignored.sort()).toEqual([...Object.keys(HINTS), 'moderation', 'text.verbosity'].sort());
  });
});

describe('truncation of responses', () => {
  it('changes nothing for a request that fits, and is named where the upstream has none', () => {
    for (const dialect of ['chat', 'messages', 'gemini', 'converse', 'cohere', 'ollama'])
      expect([dialect, sent(dialect, { input: 'x', truncation: 'auto' })]).toMatchObject([
        dialect,
        { misfit: null, ignored: ['truncation'] },
      ]);
    const own = sent('responses', { input: 'x', truncation: 'auto' });
    expect([own.body.truncation, own.ignored]).toEqual(['auto', []]);
    expect(sent('chat', { input: 'x', truncation: 'disabled' }).ignored).toEqual([]);
  });
});

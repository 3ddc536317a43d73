import { sent, user } from './upstream-requests.fixture.js';

const messages = [user('x')];
const sampling = {
  temperature: 0.5,
  top_p: 0.9,
  top_k: 40,
  seed: 7,
  frequency_penalty: 0.1,
  presence_penalty: 0.2,
};

describe('sampling parameters go to who knows them, and are named where they do not', () => {
  it('responses knows two', () => {
    const { body, ignored } = sent('responses', { messages, ...sampling });
    expect(body).toMatchObject({ temperature: 0.5, top_p: 0.9 });
    expect(ignored.toSorted()).toEqual(['frequency_penalty', 'presence_penalty', 'seed', 'top_k']);
    for (const name of ignored) expect(body).not.toHaveProperty(name);
    const fixed = sent('responses', { messages, temperature: 0.5, top_p: 0.9 }, { fixesSampling: true });
    expect(fixed.ignored.toSorted()).toEqual(['temperature', 'top_p']);
    expect(fixed.body).not.toHaveProperty('temperature');
  });

  it.each([
    ['anthropic.claude-sonnet-4-5', { additionalModelRequestFields: { top_k: 40 } }, false],
    ['amazon.nova-pro-v1:0', { additionalModelRequestFields: { inferenceConfig: { topK: 40 } } }, false],
    ['meta.llama4-scout', {}, true],
  ])('Converse takes top_k by the family of %s', (upstreamModel, members, isIgnored) => {
    const { body, ignored } = sent('converse', { messages, top_k: 40 }, { upstreamModel });
    expect(body).toMatchObject(members);
    expect(ignored).toEqual(isIgnored ? ['top_k'] : []);
    expect(JSON.stringify(body).includes('40')).toBe(!isIgnored);
  });

  it('Ollama gets the options of its server where the provider passes them on', () => {
    const options = { num_ctx: 8_192, min_p: 0.1, repeat_penalty: 1.1, repeat_last_n: 64, typical_p: 0.7 };
    const passing = { quirks: { passthroughParams: true } };
    expect(sent('ollama', { messages, ...options }, passing).body.options).toMatchObject(options);
    expect(sent('ollama', { messages, ...options }).body.options ?? {}).toEqual({});
  });

  it.each(['messages', 'gemini', 'converse', 'cohere', 'ollama', 'responses'])(
    'store is named by %s where it asks for something, and not where it is false',
    (dialect) => {
      expect(sent(dialect, { messages, store: true }).ignored).toEqual(['store']);
      expect(sent(dialect, { messages, store: false }).ignored).toEqual([]);
    },
  );

  it('Gemini is asked for several answers where the caller wants several, else not', () => {
    expect(sent('gemini', { messages, n: 2 }).body.generationConfig).toMatchObject({ candidateCount: 2 });
    const { generationConfig = {} } = sent('gemini', { messages, n: 1 }).body;
    expect(generationConfig).not.toHaveProperty('candidateCount');
  });
});

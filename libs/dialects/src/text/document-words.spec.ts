import { sent, user, type Json } from './upstream-requests.fixture.js';

describe('a document', () => {
  it('MSG-01 says its title and its context to every provider, in its members or in words before it', () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'Page one.' };
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
    const about = { title: 'Q3', context: 'Internal.' };
    const content = [
      { type: 'document', source, ...about },
      { type: 'document', source: pdf, ...about },
    ];
    const bodyOf = (dialect: string, blocks: Json[] = content): string =>
      JSON.stringify(sent(dialect, { max_tokens: 9, messages: [user(blocks)] }).body);
    const words = 'Title: Q3\\nContext: Internal.';
    for (const dialect of ['chat', 'responses']) {
      expect(bodyOf(dialect)).toContain(`"text":"${words}\\n\\nPage one."`);
      expect(bodyOf(dialect)).toContain('"filename":"Q3"');
      expect(bodyOf(dialect).match(/Context: Internal\./g)).toHaveLength(2);
    }
    expect(bodyOf('gemini')).toContain(`{"text":"${words}\\n\\nPage one."}`);
    expect(bodyOf('gemini')).toContain(`{"text":"${words}"},{"inlineData"`);
    for (const dialect of ['cohere', 'ollama'])
      expect(bodyOf(dialect, content.slice(0, 1))).toContain(`${words}\\n\\nPage one.`);
    expect(bodyOf('converse').match(/"name":"Q3( \(2\))?"/g)).toHaveLength(2);
    expect(bodyOf('converse').match(/\{"text":"Context: Internal\."\},\{"document"/g)).toHaveLength(2);
    const claude = { upstreamModel: 'anthropic.claude-5' };
    const toClaude = sent('converse', { max_tokens: 9, messages: [user(content)] }, claude).body;
    expect(JSON.stringify(toClaude).match(/"context":"Internal\."/g)).toHaveLength(2);
    expect(JSON.stringify(toClaude)).not.toContain('Context:');
    const bare = [{ type: 'document', source }];
    for (const dialect of ['chat', 'responses', 'gemini', 'cohere', 'ollama'])
      expect(bodyOf(dialect, bare)).toContain('"Page one."');
  });
});

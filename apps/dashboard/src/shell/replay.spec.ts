import { replayOf } from './replay.js';

const SETTINGS = { temperature: '', maxTokens: '', tools: '' };

describe('a logged request that is sent again', () => {
  it('has its conversation and settings, the last message apart', () => {
    const body = {
      ...{ model: 'acme/swift', temperature: 0, max_tokens: 64, stream: true },
      tools: [{ type: 'function', function: { name: 'weather' } }],
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
        { role: 'assistant', content: null, tool_calls: [] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
          ],
        },
      ],
    };
    expect(replayOf(body)).toEqual({
      system: 'Be short.',
      past: [
        { role: 'user', text: 'Hi' },
        { role: 'assistant', text: 'Hello' },
      ],
      last: { role: 'user', text: 'What is this?', image: 'data:image/png;base64,AA==' },
      ...{ temperature: '0', maxTokens: '64', tools: JSON.stringify(body.tools, null, 2) },
    });
  });

  it.each([
    ['messages', { system: [{ type: 'text', text: 'S' }], messages: [{ role: 'user', content: 'Hi' }] }],
    ['responses', { instructions: 'S', input: 'Hi' }],
    ['responses with items', { instructions: 'S', input: [{ role: 'user', content: [{ text: 'Hi' }] }] }],
  ])('is read of %s, too', (_name, body) => {
    expect(replayOf(body)).toEqual({
      ...{ system: 'S', past: [], last: { role: 'user', text: 'Hi' } },
      ...SETTINGS,
    });
  });

  it.each([null, 'text', {}, { messages: [] }, { messages: [{ role: 'assistant', content: 'Hi' }] }])(
    'is nothing where no message waits for an answer: %j',
    (body) => expect(replayOf(body)).toBeNull(),
  );
});

import { bodyOf, curlOf, grown, type Answer, type Settings } from './chat.js';

const settings: Settings = { system: '', temperature: '', maxTokens: '', tools: '' };
const empty: Answer = {
  text: '',
  toolCalls: [],
  requestId: 'req_1',
  firstTokenMs: null,
  totalMs: null,
  promptTokens: null,
  completionTokens: null,
};

describe('a request of the playground', () => {
  it('holds what was set and nothing else', () => {
    expect(bodyOf('a/b', [{ role: 'user', text: 'Hi' }], settings)).toEqual({
      model: 'a/b',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      stream_options: { include_usage: true },
    });
    const full = bodyOf('a/b', [{ role: 'user', text: 'Look', image: 'data:image/png;base64,AA==' }], {
      system: 'Be brief',
      temperature: '0.2',
      maxTokens: '64',
      tools: '[{"type":"function","function":{"name":"f"}}]',
    });
    expect(full).toMatchObject({ temperature: 0.2, max_tokens: 64, tools: [{ function: { name: 'f' } }] });
    expect(full.messages).toEqual([
      { role: 'system', content: 'Be brief' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        ],
      },
    ]);
  });

  it('says that tools are no JSON', () => {
    expect(() => bodyOf('a/b', [], { ...settings, tools: '{' })).toThrow('not JSON');
  });

  it('is shown as code that a shell takes', () => {
    const code = curlOf('https://gw.example', bodyOf('a/b', [{ role: 'user', text: "it's" }], settings));
    expect(code).toContain("it'\\''s");
    expect(code).not.toMatch(/rsk_/);
  });
});

describe('an answer of the playground', () => {
  it('grows by text and by parts of tool calls, and keeps when it began', () => {
    const events = [
      { choices: [{ delta: {} }] },
      { choices: [{ delta: { content: 'Hel' } }] },
      { choices: [{ delta: { content: 'lo' } }] },
      { choices: [{ delta: { tool_calls: [{ index: 0, function: { name: 'f', arguments: '{"a"' } }] } }] },
      { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] } }] },
      { choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } },
    ];
    const answer = events.reduce((so, event, index) => grown(so, event, (index + 1) * 10), empty);
    expect(answer).toEqual({
      ...empty,
      text: 'Hello',
      toolCalls: [{ name: 'f', arguments: '{"a":1}' }],
      firstTokenMs: 20,
      promptTokens: 5,
      completionTokens: 7,
    });
  });

  it('ends with the error that a stream ends with', () => {
    expect(() => grown(empty, { error: { code: 'stream_failed', message: 'cut' } }, 1)).toThrow('cut');
  });
});

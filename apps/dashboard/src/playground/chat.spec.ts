import { bodyOf, grown, NO_SETTINGS, speedOf, type Answer } from './chat.js';

const settings = NO_SETTINGS;
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
      ...settings,
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
    expect(() => bodyOf('a/b', [], { ...settings, schema: '{' })).toThrow('not JSON');
  });

  it('holds how it is drawn, where it ends, and the form of its answer', () => {
    const schema = { type: 'object' };
    const set = {
      topP: '0.9',
      seed: '7',
      stop: 'END\n\nSTOP',
      effort: 'low',
      schema: JSON.stringify(schema),
    };
    expect(bodyOf('a/b', [], { ...settings, ...set })).toMatchObject({
      ...{ top_p: 0.9, seed: 7, stop: ['END', 'STOP'], reasoning_effort: 'low' },
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    });
  });

  it('gives the results of tools back, and lets calls go that nobody answered', () => {
    const asked = { role: 'user', text: 'Weather?' } as const;
    const called = {
      role: 'assistant',
      text: '',
      toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{}' }],
    } as const;
    const result = { role: 'tool', callId: 'call_1', text: '' } as const;
    expect(bodyOf('a/b', [asked, called, result], settings).messages).toEqual([
      { role: 'user', content: 'Weather?' },
      {
        ...{ role: 'assistant', content: null },
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '' },
    ]);
    expect(bodyOf('a/b', [asked, called, asked], settings).messages).toHaveLength(2);
  });
});

describe('an answer of the playground', () => {
  it('grows by text and by parts of tool calls, and keeps when it began', () => {
    const events = [
      { choices: [{ delta: {} }] },
      { choices: [{ delta: { content: 'Hel' } }] },
      { choices: [{ delta: { content: 'lo' } }] },
      {
        choices: [
          { delta: { tool_calls: [{ index: 0, id: 'call_9', function: { name: 'f', arguments: '{"a"' } }] } },
        ],
      },
      { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] } }] },
      { choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } },
    ];
    const answer = events.reduce((so, event, index) => grown(so, event, (index + 1) * 10), empty);
    expect(answer).toEqual({
      ...empty,
      text: 'Hello',
      toolCalls: [{ id: 'call_9', name: 'f', arguments: '{"a":1}' }],
      firstTokenMs: 20,
      promptTokens: 5,
      completionTokens: 7,
    });
  });

  it('ends with the error that a stream ends with', () => {
    expect(() => grown(empty, { error: { code: 'stream_failed', message: 'cut' } }, 1)).toThrow('cut');
  });

  it('has a speed only where it took long enough to have one', () => {
    const streamed = { ...empty, completionTokens: 50, firstTokenMs: 200 };
    expect(speedOf({ ...streamed, totalMs: 1_200 })).toBe(50);
    expect(speedOf({ ...streamed, totalMs: 200.4 })).toBeNull();
    expect(speedOf({ ...streamed, completionTokens: null, totalMs: 1_200 })).toBeNull();
  });
});

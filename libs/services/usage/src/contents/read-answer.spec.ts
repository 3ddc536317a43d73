import { readAnswer } from './read-answer.js';

const frames = (...all: unknown[]): string => all.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
const chunk = (delta: object, more: object = {}): object => ({
  id: 'chatcmpl_1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});

describe('an answer as one object', () => {
  it('is the plain answer where it was one', () => {
    expect(readAnswer('{"a": 1}')).toEqual({ a: 1 });
    for (const text of ['', 'RIFF', '[1]', '"x"', 'null', 'data: [DONE]\n\n', ': ping\n\n'])
      expect(readAnswer(text)).toBeNull();
  });

  it('joins the chunks of a chat completion, so that nothing is cut in two', () => {
    const text =
      ': ping\n\n' +
      frames(
        chunk({ role: 'assistant', content: '' }),
        chunk({ content: 'sk-abc' }),
        chunk({ content: 'defghij' }),
        chunk({ tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: '{"a"' } }] }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
        chunk({}, { finish_reason: 'stop' }),
        { object: 'chat.completion.chunk', choices: [], usage: { total_tokens: 3 } },
      ) +
      'data: [DONE]\n\n';
    expect(readAnswer(text)).toEqual({
      id: 'chatcmpl_1',
      object: 'chat.completion',
      usage: { total_tokens: 3 },
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: {
            role: 'assistant',
            content: 'sk-abcdefghij',
            tool_calls: [{ index: 0, id: 'call_1', function: { name: 'f', arguments: '{"a":1}' } }],
          },
        },
      ],
    });
  });

  it('joins the events of a message', () => {
    const text = frames(
      { type: 'message_start', message: { id: 'msg_1', role: 'assistant', content: [], usage: {} } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
      },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a":' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '1}' } },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    );
    expect(readAnswer(text)).toEqual({
      id: 'msg_1',
      role: 'assistant',
      stop_reason: 'tool_use',
      usage: { output_tokens: 3 },
      content: [
        { type: 'text', text: 'Hello' },
        { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
      ],
    });
  });

  it('takes the response of the closing event, and the last frame of other streams', () => {
    const closing = { type: 'response.completed', response: { id: 'resp_1', output: [] } };
    expect(readAnswer(frames({ type: 'response.created', response: { id: 'resp_1' } }, closing))).toEqual(
      closing.response,
    );
    const done = { type: 'transcript.text.done', text: 'Hello' };
    expect(readAnswer(frames({ type: 'transcript.text.delta', delta: 'Hel' }, done))).toEqual(done);
  });

  it('says how a stream broke off', () => {
    const error = { code: 'upstream_error', message: 'gone' };
    expect(readAnswer(frames(chunk({ content: 'Hel' }), { error }))).toMatchObject({
      error,
      choices: [{ message: { content: 'Hel' } }],
    });
  });

  it('takes hostile frames for what they are', () => {
    const text = `data: {"choices": [{"delta": {"__proto__": {"polluted": "yes"}, "content": "a"}}]}\n\n`;
    expect(readAnswer(text)).toMatchObject({ choices: [{ message: { content: 'a' } }] });
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    for (const hostile of [
      '{"choices": [null, 1, {"delta": []}]}',
      '{"type": "content_block_delta", "index": 9}',
    ])
      expect(readAnswer(`data: ${hostile}\n\n`)).toEqual(expect.any(Object));
  });
});

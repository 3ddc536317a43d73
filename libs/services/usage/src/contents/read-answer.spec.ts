import { writeJson } from '@gateway/json-body';
import { readAnswer } from './read-answer.js';

const frames = (...all: unknown[]): string => all.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
const chunk = (delta: object, more: object = {}): object => ({
  id: 'chatcmpl_1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});

/** Numbers that no double holds as written, number-like names out of order. */
const ODD = '{"id":1234567890123456789,"b":1,"10":2,"rate":1.0,"e":1e400,"z":-0}';

describe('an answer as one object', () => {
  it('F1 keeps numbers and order of members as they were written, plain and joined from chunks', () => {
    expect(writeJson(readAnswer(ODD))).toBe(ODD);
    const delta = `{"own":${ODD},"score":1.0,"list":[${ODD}]}`;
    const text = `data: {"seen":1.0,"choices":[{"index":0,"delta":${delta},"share":-0}]}\n\n`;
    expect(writeJson(readAnswer(`${text}data: [DONE]\n\n`))).toBe(
      `{"seen":1.0,"object":"chat.completion","choices":[{"index":0,"message":${delta},"share":-0}]}`,
    );
    const block = `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","input":{}}}\n\n`;
    const input = JSON.stringify({ type: 'input_json_delta', partial_json: ODD });
    const fragment = `data: {"type":"content_block_delta","index":0,"delta":${input}}\n\n`;
    const start = 'data: {"type":"message_start","message":{"id":"msg_1"}}\n\n';
    expect(writeJson(readAnswer(start + block + fragment))).toContain(`"input":${ODD}`);
  });

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

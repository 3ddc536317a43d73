import type { JsonObject } from '../../body/json-object.js';
import { ApiError } from '@gateway/contracts';
import type { ModelEvent } from '../model-event.js';
import type { TextFacts } from '../text-dialect.js';
import { dialect } from './messages.dialect.js';
import { encodedStream, FACTS, foldOf, frames, ZEROS } from './messages.fixture.js';

const startEvent: ModelEvent = {
  type: 'start',
  id: 'chatcmpl-1',
  created: 1,
  systemFingerprint: null,
  serviceTier: null,
};
const say = (words: string): ModelEvent => ({ type: 'text', choice: 0, text: words });
const call = (k: number, id: string): ModelEvent => ({
  type: 'tool_start',
  choice: 0,
  call: k,
  id,
  name: `t${k}`,
  custom: false,
});
const args = (k: number, words: string): ModelEvent => ({
  type: 'tool_arguments',
  choice: 0,
  call: k,
  text: words,
});
const done = (k: number): ModelEvent => ({ type: 'tool_end', choice: 0, call: k });
const usage: ModelEvent = {
  type: 'usage',
  usage: {
    prompt_tokens: 100,
    cached_tokens: 60,
    cache_write_tokens: 30,
    cache_write_1h_tokens: 10,
    completion_tokens: 9,
    reasoning_tokens: 4,
  },
  raw: { prompt_tokens: 100, completion_tokens_details: { reasoning_tokens: 4 }, cost: 1 },
};
const finish = (reason: string, native: string | null = reason): ModelEvent => ({
  type: 'finish',
  choice: 0,
  reason,
  native,
  stopSequence: null,
});
const end: ModelEvent = { type: 'end' };

function stream(events: ModelEvent[], facts: TextFacts = FACTS): JsonObject[] {
  return frames(encodedStream(events, facts));
}

/** The official SDKs build a message of a stream by these rules: one block open, dense indexes. */
function blocks(list: JsonObject[]): string[] {
  let open = -1;
  let count = 0;
  const found: string[] = [];
  for (const event of list) {
    if (event.type === 'content_block_start') {
      expect(open).toBe(-1);
      expect(event.index).toBe(count);
      open = count;
      count += 1;
      found.push(JSON.stringify((event.content_block as JsonObject).type));
    } else if (event.type === 'content_block_delta') {
      expect(event.index).toBe(open);
      const { type: _type, ...delta } = event.delta as JsonObject;
      found.push(String(Object.values(delta)[0]));
    } else if (event.type === 'content_block_stop') {
      expect(event.index).toBe(open);
      open = -1;
    }
  }
  expect(open).toBe(-1);
  return found;
}

const COUNTS = {
  input_tokens: 10,
  cache_creation_input_tokens: 30,
  cache_read_input_tokens: 60,
  cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
  output_tokens: 9,
  byok_used: false,
  fallback_triggered: true,
};

describe('a translated answer on the messages front', () => {
  it('MSG-01 MSG-02 MSG-05 USG-36 USG-38 streams zeros first and the counts at the end (bug 45)', () => {
    const facts = { ...FACTS, fallbackTriggered: true };
    const list = stream([startEvent, say('Hi'), usage, finish('stop'), end], facts);
    expect(list.map(({ type }) => type)).toEqual([
      'message_start',
      'ping',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(list[0].message).toMatchObject({
      id: 'msg_gateway',
      type: 'message',
      role: 'assistant',
      model: 'acme/claude',
      content: [],
      stop_reason: null,
    });
    expect((list[0].message as JsonObject).usage).toEqual({ ...ZEROS, fallback_triggered: true });
    expect(list[5].usage).toEqual(COUNTS);
    expect(list[5].delta).toMatchObject({ stop_reason: 'end_turn', stop_sequence: null });
  });

  it('MSG-05 USG-32 USG-33 USG-34 USG-35 USG-37 folds to the message that the stream would build', () => {
    const facts = { ...FACTS, fallbackTriggered: true };
    const events = [
      startEvent,
      say('Hi'),
      call(0, 'call_1'),
      args(0, '{"a":1}'),
      done(0),
      usage,
      finish('tool_calls'),
      end,
    ];
    expect(foldOf(events, facts)).toEqual({
      id: 'msg_gateway',
      type: 'message',
      role: 'assistant',
      model: 'acme/claude',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'tool_use', id: 'toolu_via_call_1', name: 't0', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      stop_details: null,
      container: null,
      usage: COUNTS,
    });
  });

  it('bugs 32, 33: closes a tool before text, never opens an empty text, and stops for the tool', () => {
    const list = stream([
      startEvent,
      say(''),
      call(0, 'call_1'),
      args(0, '{}'),
      say('after'),
      finish('stop'),
      end,
    ]);
    expect(blocks(list)).toEqual(['"tool_use"', '{}', '"text"', 'after']);
    expect(list.at(-2)?.delta).toMatchObject({ stop_reason: 'tool_use' });
  });

  it('bug 33: holds fragments of a second tool until the first one ends', () => {
    const list = stream([
      startEvent,
      call(0, 'a'),
      args(0, '1'),
      call(1, 'b'),
      args(1, 'x'),
      args(0, '2'),
      call(2, 'c'),
      done(2),
      done(0),
      args(1, 'y'),
      done(1),
      finish('tool_calls'),
      end,
    ]);
    expect(blocks(list)).toEqual(['"tool_use"', '1', '2', '"tool_use"', 'x', 'y', '"tool_use"']);
  });

  it('joins the fragments of a call between which the upstream has said or thought something', () => {
    const thought: ModelEvent = { type: 'reasoning', choice: 0, text: 'hm', format: 'anthropic' };
    const between = [call(0, 'a'), args(0, '{"a":"}'), say('so '), args(0, '\\"'), thought, call(1, 'b')];
    const rest = [args(1, '{"b":'), args(0, '{"}'), say('far'), args(1, '2}'), say('!')];
    const list = stream([startEvent, ...between, ...rest, finish('tool_calls'), end]);
    expect(blocks(list)).toEqual([
      ...['"tool_use"', '{"a":"}', '\\"', '{"}', '"text"', 'so ', '"thinking"', 'hm'],
      ...['"tool_use"', '{"b":', '2}', '"text"', 'far', '!'],
    ]);
  });

  it('writes a citation that comes before its text in the block of that text', () => {
    const cited: ModelEvent = { type: 'citation', choice: 0, citation: { url: 'https://a', title: 'A' } };
    const list = stream([startEvent, cited, say('x'), finish('stop'), end]);
    expect(list.flatMap(({ delta }) => (delta as JsonObject | undefined)?.type ?? [])).toEqual([
      'citations_delta',
      'text_delta',
    ]);
    expect(blocks(stream([startEvent, cited, finish('stop'), end]))).toEqual([]);
  });

  it('writes what was said beside a call that was cut when the answer ends', () => {
    const list = stream([startEvent, call(0, 'a'), args(0, '{'), say('x'), finish('length'), end]);
    expect(blocks(list)).toEqual(['"tool_use"', '{', '"text"', 'x']);
  });

  it('writes tools that nobody ended before the message ends', () => {
    const list = stream([startEvent, call(0, 'a'), call(1, 'b'), args(1, '{}'), finish('tool_calls'), end]);
    expect(blocks(list)).toEqual(['"tool_use"', '"tool_use"', '{}']);
  });

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['tool_calls', 'end_turn'],
    ['something_new', 'end_turn'],
  ])('stops a text answer that finished with %s as %s', (reason, expected) => {
    expect(foldOf([startEvent, say('x'), finish(reason), end], FACTS).stop_reason).toBe(expected);
  });

  it('bugs 4, 42: a call cut at the output limit stops as max_tokens and shows what was cut', () => {
    const events = [startEvent, call(0, 'a'), args(0, '{"path":"/h'), done(0), finish('length'), end];
    expect(foldOf(events, FACTS)).toMatchObject({
      stop_reason: 'max_tokens',
      content: [{ input: { raw_arguments: '{"path":"/h' } }],
    });
  });

  it('bug 23: shows no ids of other dialects, and keeps every two apart', () => {
    const ids = ['call_1', 'functions.Bash:0', 'functions_Bash_0', 'toolu_own'].map((id) => {
      const { content } = foldOf([startEvent, call(0, id), done(0), finish('stop'), end], FACTS);
      return String((content as JsonObject[])[0].id);
    });
    expect(new Set(ids).size).toBe(4);
    expect(ids[3]).toBe('toolu_own');
    for (const id of ids) expect(id).toMatch(/^toolu_[A-Za-z0-9_-]+$/);
  });

  it('keeps reasoning of its own family only, and none where the caller left it out', () => {
    const events: ModelEvent[] = [
      startEvent,
      { type: 'reasoning', choice: 0, text: 'hm', format: 'anthropic' },
      { type: 'reasoning_signature', choice: 0, signature: 's', format: 'anthropic' },
      { type: 'opaque_reasoning', choice: 0, data: 'd', format: 'openai-responses' },
      say('Hi'),
      finish('stop'),
      end,
    ];
    const of = (facts: TextFacts): unknown => foldOf(events, facts).content;
    expect(of(FACTS)).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'text', text: 'Hi' },
    ]);
    expect(of({ ...FACTS, excludeReasoning: true })).toEqual([
      { type: 'thinking', thinking: '', signature: 's' },
      { type: 'text', text: 'Hi' },
    ]);
  });

  it('bug 25: ends a failed stream with an error event and no message_stop', () => {
    const error = new ApiError('upstream_error', { status: 503, providerCode: 'provider_overloaded' });
    const list = frames(encodedStream([startEvent, say('Hi')]) + dialect.caller.errorFrame(error, 'req_1'));
    expect(list.at(-1)).toMatchObject({
      type: 'error',
      error: { type: 'overloaded_error', code: 'upstream_error', provider_code: 'provider_overloaded' },
      request_id: 'req_1',
    });
    expect(list.some(({ type }) => type === 'message_stop' || type === 'message_delta')).toBe(false);
  });

  it('shows 0 where the provider reported nothing', () => {
    expect(foldOf([startEvent, say('Hi'), finish('stop'), end], FACTS).usage).toMatchObject({
      input_tokens: 0,
      output_tokens: 0,
    });
  });
});

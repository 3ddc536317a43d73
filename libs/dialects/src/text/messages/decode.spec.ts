import type { JsonObject } from '../../body/json-object.js';
import fc from 'fast-check';
import type { ModelEvent } from '../model-event.js';
import { block, decoded, foldOf, plainEvents, sse, start, stop, text, tool } from './messages.fixture.js';

function only<T extends ModelEvent['type']>(
  events: ModelEvent[],
  type: T,
): Extract<ModelEvent, { type: T }>[] {
  return events.filter((event): event is Extract<ModelEvent, { type: T }> => event.type === type);
}

function argumentsOf(events: ModelEvent[], call = 0): string {
  return only(events, 'tool_arguments')
    .filter((event) => event.call === call)
    .map((event) => event.text)
    .join('');
}

function usageOf(events: ModelEvent[]): unknown {
  return only(events, 'usage').at(-1)?.usage;
}

function failureOf(events: ModelEvent[]): string {
  const last = events.at(-1);
  return last?.type === 'error' ? last.failure.kind : 'none';
}

const everything: JsonObject[] = [
  start({
    input_tokens: 6,
    cache_creation_input_tokens: 20,
    cache_read_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 5 },
    output_tokens: 1,
  }),
  { type: 'ping' },
  ...block(
    0,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking: 'hm, größer' },
    { type: 'signature_delta', signature: 'c2ln' },
  ),
  ...block(1, { type: 'redacted_thinking', data: 'b3BhcXVl' }),
  ...text(2, 'Hello ', 'wörld 😀'),
  ...tool(3, 'toolu_1', '', '{"a":', '"é"}'),
  ...tool(4, 'toolu_2'),
  { type: 'a_new_event', index: 9 },
  ...stop('tool_use', { input_tokens: 6, cache_creation_input_tokens: 25, output_tokens: 12 }),
];

describe('an upstream of the messages dialect', () => {
  it('gives the same events for any cut of the bytes', () => {
    const whole = decoded(sse(everything));
    expect(whole.at(-1)).toEqual({ type: 'end' });
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }), (sizes) => {
        expect(decoded(sse(everything), sizes)).toEqual(whole);
      }),
    );
  });

  it('folds a stream to what its plain twin gives', () => {
    const plain = {
      id: 'msg_up',
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content: [
        { type: 'thinking', thinking: 'hm, größer', signature: 'c2ln' },
        { type: 'redacted_thinking', data: 'b3BhcXVl' },
        { type: 'text', text: 'Hello wörld 😀' },
        { type: 'tool_use', id: 'toolu_1', name: 'look', input: { a: 'é' } },
        { type: 'tool_use', id: 'toolu_2', name: 'look', input: {} },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {
        input_tokens: 6,
        cache_creation_input_tokens: 25,
        cache_read_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 5 },
        output_tokens: 12,
      },
    };
    const folded = foldOf(decoded(sse(everything)));
    expect(folded).toEqual(foldOf(plainEvents(plain)));
    expect(folded).toMatchObject({ id: 'msg_up', content: plain.content, usage: plain.usage });
  });

  it('bug 1: never lets the empty input of a start into the arguments', () => {
    const events = decoded(sse([start(), ...tool(0, 'toolu_1', '{"a"', ':1}'), ...stop('tool_use')]));
    expect(argumentsOf(events)).toBe('{"a":1}');
  });

  it('bug 2: a tool without arguments has exactly {}', () => {
    for (const fragments of [[], ['']]) {
      const events = decoded(sse([start(), ...tool(0, 'toolu_1', ...fragments), ...stop('tool_use')]));
      expect(argumentsOf(events)).toBe('{}');
      expect(only(events, 'tool_end')).toHaveLength(1);
    }
  });

  it('remembers input that came whole in the start', () => {
    const whole = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { a: 1 } };
    const events = decoded(sse([start(), ...block(0, whole), ...stop('tool_use')]));
    expect(argumentsOf(events)).toBe('{"a":1}');
  });

  it('numbers client tools from 0 and leaves out what ran at the provider', () => {
    const server = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
    const events = decoded(
      sse([
        start(),
        ...block(0, server, { type: 'input_json_delta', partial_json: '{"q":1}' }),
        ...block(1, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }),
        ...block(
          2,
          { type: 'text', text: '' },
          { type: 'text_delta', text: 'Found.' },
          { type: 'citations_delta', citation: { url: 'https://a.example', title: 'A' } },
        ),
        ...tool(3, 'toolu_1', '{}'),
        ...stop('tool_use'),
      ]),
    );
    expect(only(events, 'tool_start').map(({ call, id }) => [call, id])).toEqual([[0, 'toolu_1']]);
    expect(argumentsOf(events)).toBe('{}');
    expect(only(events, 'citation')[0].citation).toEqual({ url: 'https://a.example', title: 'A' });
  });

  it('bug 17: keeps a signature whose thinking has no text', () => {
    const signed = block(0, { type: 'thinking', thinking: '' }, { type: 'signature_delta', signature: 's' });
    const events = decoded(sse([start(), ...signed, ...text(1, 'ok'), ...stop('end_turn')]));
    expect(foldOf(events).content).toEqual([
      { type: 'thinking', thinking: '', signature: 's' },
      { type: 'text', text: 'ok' },
    ]);
  });

  it.each([
    ['CHAT-09', 'end_turn', 'stop'],
    ['CHAT-09', 'stop_sequence', 'stop'],
    ['CHAT-09', 'tool_use', 'tool_calls'],
    ['CHAT-09', 'max_tokens', 'length'],
    ['CHAT-09', 'model_context_window_exceeded', 'length'],
    ['CHAT-09', 'refusal', 'content_filter'],
    ['CHAT-11', 'pause_turn', 'pause_turn'],
    ['CHAT-11', 'something_new', 'something_new'],
  ])('%s %s finishes as %s', (_id, native, reason) => {
    const events = decoded(sse([start(), ...stop(native)]));
    expect(only(events, 'finish')).toMatchObject([{ reason, native }]);
    expect(events.at(-1)).toEqual({ type: 'end' });
  });
});

describe('usage of the messages dialect', () => {
  it('USG-04 USG-08 USG-09 USG-20 counts cached and written input once, inside the prompt (bugs 5, 6, 7)', () => {
    expect(usageOf(decoded(sse(everything)))).toEqual({
      prompt_tokens: 6 + 25 + 30,
      cached_tokens: 30,
      cache_write_tokens: 25,
      cache_write_1h_tokens: 5,
      completion_tokens: 12,
      reasoning_tokens: 0,
    });
  });

  it('overwrites with what comes later, and keeps what a later report leaves out or sends as null', () => {
    const later = [
      { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 3 } },
      ...stop('end_turn', { input_tokens: 61, output_tokens: 2, cache_read_input_tokens: null }),
    ];
    const first = { input_tokens: 43, cache_read_input_tokens: 4, output_tokens: 1 };
    expect(usageOf(decoded(sse([start(first), ...text(0, 'pong'), ...later])))).toMatchObject({
      prompt_tokens: 65,
      cached_tokens: 4,
      completion_tokens: 2,
    });
  });

  it('does not take the output of message_start for a count', () => {
    const [first] = only(decoded(sse([start()])), 'usage');
    expect(first.usage).toMatchObject({ prompt_tokens: 10 });
    expect(first.usage).not.toHaveProperty('completion_tokens');
  });

  it('sums iterations with a compaction, never with a fallback message, and leaves advisors out', () => {
    const step = (type: string): JsonObject => ({ type, input_tokens: 100, output_tokens: 10 });
    const of = (...types: string[]): unknown =>
      usageOf(
        decoded(
          sse([
            start(),
            ...stop('end_turn', { input_tokens: 7, output_tokens: 1, iterations: types.map(step) }),
          ]),
        ),
      );
    expect(of('message', 'advisor_message', 'compaction')).toMatchObject({
      prompt_tokens: 200,
      completion_tokens: 20,
    });
    expect(of('compaction', 'fallback_message')).toMatchObject({ prompt_tokens: 7, completion_tokens: 1 });
    expect(of('message', 'message')).toMatchObject({ prompt_tokens: 7, completion_tokens: 1 });
  });

  it('counts searches that the provider ran, and thinking where it is reported', () => {
    const usage = {
      output_tokens: 9,
      output_tokens_details: { thinking_tokens: 4 },
      server_tool_use: { web_search_requests: 2 },
    };
    expect(usageOf(decoded(sse([start(), ...stop('end_turn', usage)])))).toMatchObject({
      reasoning_tokens: 4,
      tool_calls: { web_search: 2 },
    });
  });
});

describe('a messages upstream that fails', () => {
  it('bugs 24, 25: ends in an error wherever the stream is cut, and never in a finish of its own', () => {
    const frames = [start(), ...text(0, 'Hel', 'lo'), ...stop('end_turn')];
    for (let length = 0; length < frames.length; length += 1) {
      const events = decoded(sse(frames.slice(0, length)));
      expect(failureOf(events)).toBe('connection');
      expect(events.some(({ type }) => type === 'end')).toBe(false);
    }
  });

  it('reports an error of a host before the model, in words of its own', () => {
    const error = { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Quota exceeded' };
    for (const before of [[], [start()]]) {
      const events = decoded(`${sse(before)}event: error\ndata: ${JSON.stringify({ error })}\n\n`);
      const failure = { kind: 'in_band', status: 429, message: 'Quota exceeded', body: error };
      expect(events.at(-1)).toEqual({ type: 'error', failure });
    }
  });

  it('reports an error event, be it the very first', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    for (const before of [[], [start(), ...text(0, 'Hi')]]) {
      const events = decoded(sse([...before, error, ...stop('end_turn')]));
      expect(events.at(-1)).toEqual({
        type: 'error',
        failure: { kind: 'in_band', status: 529, message: 'Overloaded', body: error.error },
      });
    }
  });

  it('bug 34: ignores a repeated message_start and refuses a spliced one', () => {
    const twice = [start(), start(), ...text(0, 'Hi'), ...stop('end_turn')];
    const once = [start(), ...text(0, 'Hi'), ...stop('end_turn')];
    expect(decoded(sse(twice))).toEqual(decoded(sse(once)));
    const spliced = decoded(sse([start(), start({}, 'msg_other'), ...text(0, 'Hi'), ...stop('end_turn')]));
    expect(failureOf(spliced)).toBe('bad_response');
    expect(only(spliced, 'text')).toEqual([]);
  });

  it.each([
    ['malformed JSON', `${sse([start()])}data: {"type":\n\n`],
    ['a value that is no object', `${sse([start()])}data: 3\n\n`],
    ['a block before the message', sse(text(0, 'Hi'))],
    ['a stop without a reason', sse([start(), { type: 'message_stop' }])],
    ['a line past the bound', `${sse([start()])}data: ${'x'.repeat(1_100_000)}`],
  ])('calls %s a bad response', (_name, wire) => {
    expect(failureOf(decoded(wire))).toBe('bad_response');
  });

  it('says what is wrong with a plain body', () => {
    const kinds = (body: JsonObject): string => failureOf(plainEvents(body));
    expect(kinds({ id: 'msg_1' })).toBe('bad_response');
    expect(kinds({ content: [], stop_reason: null })).toBe('bad_response');
    expect(kinds({ type: 'error', error: { type: 'api_error', message: 'x' } })).toBe('in_band');
    expect(kinds({ error: { code: 429, message: 'x' } })).toBe('in_band');
  });

  it('never throws, whatever the events hold', () => {
    const names = [
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ];
    const member = fc.jsonValue({ maxDepth: 3 });
    const event = fc.record({
      type: fc.constantFrom(...names),
      index: member,
      message: member,
      content_block: member,
      delta: member,
      usage: member,
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const last = decoded(sse(events)).at(-1);
        expect(['end', 'error']).toContain(last?.type);
      }),
    );
  });
});

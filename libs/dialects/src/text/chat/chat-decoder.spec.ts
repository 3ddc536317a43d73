import type { ModelEvent } from '../model-event.js';
import { dialect } from './chat.dialect.js';
import {
  chunk,
  cut,
  decoder,
  eventsIn,
  eventsOf,
  finishChunk,
  HEAD,
  plainEvents,
  target,
  USAGE,
  USAGE_CHUNK,
  wire,
} from './chat-samples.fixture.js';
import type { JsonObject } from '../../body/json-object.js';
import { TOOL_ARGUMENTS_MAX } from './tool-call-decoder.js';

function call(more: JsonObject): JsonObject {
  return chunk({ tool_calls: [more] });
}

interface SeenCall {
  id: string;
  name: string;
  text: string;
  isEnded: boolean;
}

function callsOf(events: ModelEvent[]): SeenCall[] {
  const calls: SeenCall[] = [];
  for (const event of events) {
    if (event.type === 'tool_start') {
      expect(event.call).toBe(calls.length);
      calls.push({ id: event.id, name: event.name, text: '', isEnded: false });
    } else if (event.type === 'tool_arguments') {
      expect(calls[event.call].isEnded).toBe(false);
      calls[event.call].text += event.text;
    } else if (event.type === 'tool_end') calls[event.call].isEnded = true;
  }
  return calls;
}

function brief(events: ModelEvent[]): [string, string][] {
  return callsOf(events).map(({ name, text }) => [name, text]);
}

const finish = finishChunk('tool_calls');

describe('the decoder of OpenAI-compatible streams', () => {
  it('reads text, finish and usage in order and ends', () => {
    const events = eventsOf([
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hi' }),
      finishChunk('stop'),
      USAGE_CHUNK,
    ]);
    expect(events.map(({ type }) => type)).toEqual(['start', 'text', 'finish', 'usage', 'end']);
    expect(events[0]).toEqual({
      type: 'start',
      id: 'chatcmpl-1',
      created: 1_690_000_000,
      systemFingerprint: null,
      serviceTier: null,
    });
  });

  it('gives a call without arguments an empty object (bug 2)', () => {
    const events = eventsOf([call({ index: 0, id: 'a', function: { name: 'now', arguments: '' } }), finish]);
    expect(callsOf(events)).toEqual([{ id: 'a', name: 'now', text: '{}', isEnded: true }]);
    expect(
      brief(eventsOf([call({ index: 0, id: 'a', function: { name: 'now', arguments: null } }), finish])),
    ).toEqual([['now', '{}']]);
    expect(
      brief(eventsOf([call({ index: 0, id: 'a', function: { name: 'now', arguments: 'null' } }), finish])),
    ).toEqual([['now', '{}']]);
  });

  it('keeps calls of one name apart by index, not by name (bug 10), and ends each once it is whole', () => {
    const events = eventsOf([
      call({ index: 1, id: 'a', function: { name: 'look', arguments: '{"q":' } }),
      call({ index: 1, function: { arguments: '1}' } }),
      call({ index: 2, id: 'b', function: { name: 'look', arguments: '{"q":2}' } }),
      call({ index: 3, id: 'c', function: { name: 'look', arguments: '{"q":3}' } }),
      finish,
    ]);
    expect(brief(events)).toEqual([
      ['look', '{"q":1}'],
      ['look', '{"q":2}'],
      ['look', '{"q":3}'],
    ]);
    const order = events
      .filter(({ type }) => type.startsWith('tool_') && type !== 'tool_arguments')
      .map(({ type }) => type);
    expect(order).toEqual(['tool_start', 'tool_end', 'tool_start', 'tool_end', 'tool_start', 'tool_end']);
  });

  it('waits for the rest of an input that is JSON so far and no object', () => {
    const custom = (index: number, input: string, more: JsonObject = {}): JsonObject =>
      call({ index, type: 'custom', custom: { ...more, input }, ...(more.name ? { id: `c${index}` } : {}) });
    const events = eventsOf([
      custom(0, '12', { name: 'sum' }),
      custom(1, '4', { name: 'sum' }),
      custom(0, '+3'),
      finish,
    ]);
    expect(brief(events)).toEqual([
      ['sum', '12+3'],
      ['sum', '4'],
    ]);
  });

  it('keeps fragments apart that come in turns', () => {
    const events = eventsOf([
      call({ index: 0, id: 'a', function: { name: 'x', arguments: '{"a"' } }),
      call({ index: 1, id: 'b', function: { name: 'y', arguments: '{"b"' } }),
      call({ index: 0, function: { arguments: ':1}' } }),
      call({ index: 1, function: { arguments: ':2}' } }),
      finish,
    ]);
    expect(brief(events)).toEqual([
      ['x', '{"a":1}'],
      ['y', '{"b":2}'],
    ]);
  });

  it.each<[string, JsonObject[], string[][]]>([
    [
      'no index, by id',
      [
        { id: 'a', function: { name: 'x', arguments: '{}' } },
        { id: 'b', function: { name: 'x', arguments: '{}' } },
      ],
      [
        ['a', 'x', '{}'],
        ['b', 'x', '{}'],
      ],
    ],
    [
      'one index for all, by id',
      [
        { index: 0, id: 'a', function: { name: 'x', arguments: '{}' } },
        { index: 0, id: 'b', function: { name: 'y', arguments: '{}' } },
      ],
      [
        ['a', 'x', '{}'],
        ['b', 'y', '{}'],
      ],
    ],
    ['a numeric id', [{ index: 0, id: 7, function: { name: 'x', arguments: '{}' } }], [['7', 'x', '{}']]],
    [
      'id and name on every delta',
      [
        { index: 0, id: 'a', function: { name: 'x', arguments: '{"k":' } },
        { index: 0, id: 'a', function: { name: 'x', arguments: '1}' } },
      ],
      [['a', 'x', '{"k":1}']],
    ],
    [
      'an empty id and name later',
      [
        { index: 0, id: 'a', function: { name: 'x', arguments: '' } },
        { index: 0, id: '', function: { name: '', arguments: '{"k":1}' } },
      ],
      [['a', 'x', '{"k":1}']],
    ],
    [
      'a name that comes after the first arguments',
      [
        { index: 0, id: 'a', function: { arguments: '{' } },
        { index: 0, function: { name: 'x', arguments: '}' } },
      ],
      [['a', 'x', '{}']],
    ],
    [
      'arguments as an object',
      [{ index: 0, id: 'a', function: { name: 'x', arguments: { k: 1 } } }],
      [['a', 'x', '{"k":1}']],
    ],
  ])('bears tool calls with %s (bug 40)', (_name, calls, expected) => {
    const events = eventsOf([...calls.map(call), finish]);
    expect(callsOf(events).map(({ id, name, text }) => [id, name, text])).toEqual(expected);
  });

  it('makes ids for calls that have none, each its own and the same in the plain twin (bug 40)', () => {
    const calls = [1, 2].map((k) => ({ type: 'function', function: { name: 'x', arguments: `{"k":${k}}` } }));
    const streamed = callsOf(eventsOf([chunk({ tool_calls: calls }), finish]));
    const answer = {
      ...HEAD,
      choices: [{ index: 0, message: { tool_calls: calls }, finish_reason: 'tool_calls' }],
    };
    const plain = callsOf(plainEvents(answer));
    expect(streamed).toEqual(plain);
    expect(streamed[0].id).toMatch(/^call_[0-9a-f]{24}$/);
    expect(streamed[0].id).not.toBe(streamed[1].id);
  });

  it('reads reasoning in every spelling of the field', () => {
    const deltas = [
      { reasoning_content: 'a' },
      { reasoning: 'b' },
      { thinking: 'c' },
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'd' }] },
          { type: 'text', text: 'answer' },
        ],
      },
      {
        reasoning: 'e',
        reasoning_details: [{ type: 'reasoning.text', text: 'e', format: 'f1', signature: 's' }],
      },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', format: 'f2' }] },
    ];
    const events = eventsOf([...deltas.map((delta) => chunk(delta)), finishChunk('stop')]);
    const texts = events.flatMap((event) => (event.type === 'reasoning' ? [event.text] : []));
    expect(texts.join('')).toBe('abcde');
    expect(events).toContainEqual({ type: 'reasoning_signature', choice: 0, signature: 's', format: 'f1' });
    expect(events).toContainEqual({ type: 'opaque_reasoning', choice: 0, data: 'x', format: 'f2' });
    expect(events).toContainEqual({ type: 'text', choice: 0, text: 'answer' });
  });

  it('counts usage once where it comes in x_groq and at the top, and the last where it comes twice', () => {
    const both = finishChunk('stop', { usage: USAGE, x_groq: { id: 'g', usage: USAGE } });
    expect(eventsOf([chunk({ content: 'a' }), both]).filter(({ type }) => type === 'usage')).toHaveLength(1);
    const only = eventsOf([chunk({ content: 'a' }), finishChunk('stop', { x_groq: { usage: USAGE } })]);
    expect(only.find(({ type }) => type === 'usage')).toMatchObject({ usage: { prompt_tokens: 10 } });
  });

  it('passes a finish once, also where the provider repeats it', () => {
    const events = eventsOf([
      chunk({ content: 'a' }),
      finishChunk('stop'),
      finishChunk('stop', { usage: USAGE }),
    ]);
    expect(events.filter(({ type }) => type === 'finish')).toHaveLength(1);
  });

  it('keeps length as the finish of a call that was cut off (bugs 4 and 42)', () => {
    const events = eventsOf([
      call({ index: 0, id: 'a', function: { name: 'x', arguments: '{"k":' } }),
      finishChunk('length'),
    ]);
    expect(brief(events)).toEqual([['x', '{"k":']]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'finish', reason: 'length', native: 'length' }),
    );
  });

  it('derives a finish that was never given, native null', () => {
    expect(eventsOf([chunk({ content: 'a' }, {}, { finish_reason: '' })])).toContainEqual(
      expect.objectContaining({ type: 'finish', reason: 'stop', native: null }),
    );
    expect(eventsOf([call({ index: 0, id: 'a', function: { name: 'x' } })])).toContainEqual(
      expect.objectContaining({ type: 'finish', reason: 'tool_calls', native: null }),
    );
  });

  it('ends well without [DONE] once a finish was seen, and is cut off without (bug 24)', () => {
    expect(eventsOf([chunk({ content: 'a' }), finishChunk('stop')], {}, false).at(-1)).toEqual({
      type: 'end',
    });
    const broken = eventsOf([chunk({ content: 'a' })], {}, false);
    expect(broken.at(-1)).toMatchObject({ type: 'error', failure: { kind: 'connection' } });
    expect(broken.some(({ type }) => type === 'finish')).toBe(false);
    expect(eventsOf([], {}, false)).toMatchObject([{ type: 'error', failure: { kind: 'connection' } }]);
  });

  it.each<[string, unknown, number | null]>([
    [
      'an error chunk with choices (bug 27)',
      { ...chunk({ content: '' }), error: { code: 429, message: 'slow down' } },
      429,
    ],
    ['an error that is a text', { error: 'slow down' }, null],
    ['an error of a choice', chunk({}, {}, { error: { code: 502, message: 'slow down' } }), 502],
    ['an error object', { object: 'error', message: 'slow down', code: 503 }, 503],
    ['MiniMax’s own', { choices: null, base_resp: { status_code: 1002, status_msg: 'slow down' } }, 429],
  ])('takes %s for a failure said in-band, after which nothing follows', (_name, body, status) => {
    const events = eventsOf([chunk({ content: 'a' }), body, chunk({ content: 'b' }), finishChunk('stop')]);
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      failure: { kind: 'in_band', status, message: 'slow down' },
    });
    expect(events.filter(({ type }) => type === 'text')).toHaveLength(1);
  });

  it('takes an SSE event named error for a failure', () => {
    const stream = Buffer.from('event: error\ndata: {"message":"bad call","status_code":400}\n\n');
    expect(eventsIn(cut(decoder(), stream))).toMatchObject([
      { type: 'error', failure: { kind: 'in_band', status: 400, message: 'bad call' } },
    ]);
  });

  it('takes an answer that the provider had no resources for as overloaded where it has said nothing', () => {
    const [reasoned, said] = [chunk({ reasoning_content: 'hm' }), chunk({ content: 'a' })];
    const ended = finishChunk('insufficient_system_resource');
    const last = (...chunks: JsonObject[]): unknown =>
      eventsOf([...chunks, ended]).findLast(({ type }) => type === 'finish' || type === 'error');
    const overloaded = { type: 'error', failure: { kind: 'in_band', status: 503 } };
    expect(last()).toMatchObject(overloaded);
    expect(last(reasoned)).toMatchObject(overloaded);
    const finished = { type: 'finish', reason: 'insufficient_system_resource' };
    expect(last(said)).toMatchObject(finished);
    expect(
      last(chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] })),
    ).toMatchObject(finished);
  });

  it('takes a frame that is no JSON object for a bad response', () => {
    for (const data of ['{"a":', '[1]', 'null', 'hello']) {
      const events = eventsIn(cut(decoder(), Buffer.from(`data: ${data}\n\n`)));
      expect(events).toMatchObject([{ type: 'error', failure: { kind: 'bad_response' } }]);
    }
    expect(eventsIn(cut(decoder(), wire([])))).toMatchObject([
      { type: 'error', failure: { kind: 'bad_response' } },
    ]);
  });

  it('bounds the arguments of a call', () => {
    const piece = call({
      index: 0,
      id: 'a',
      function: { name: 'x', arguments: 'x'.repeat(TOOL_ARGUMENTS_MAX / 16) },
    });
    const events = eventsOf(Array.from({ length: 17 }, () => piece));
    expect(events.at(-1)).toMatchObject({ type: 'error', failure: { kind: 'bad_response' } });
  });

  it('gives shortened tool names back as the caller wrote them', () => {
    const names = { short: 'a_very_long_name' };
    const reader = dialect.upstream.decoder(target(), names);
    const bytes = wire([call({ index: 0, id: 'a', function: { name: 'short' } }), finish]);
    const events = eventsIn(cut(reader, bytes));
    expect(callsOf(events)[0].name).toBe('a_very_long_name');
  });
});

describe('the decoder of plain answers', () => {
  it.each<[string, JsonObject, string]>([
    ['no choices', { id: 'a', choices: [] }, 'bad_response'],
    ['an error', { error: { message: 'no' } }, 'in_band'],
    ['MiniMax’s own', { id: 'a', choices: null, base_resp: { status_code: 1008 } }, 'in_band'],
  ])('answers an error for %s', (_name, body, kind) => {
    expect(plainEvents(body).at(-1)).toMatchObject({
      type: 'error',
      failure: { kind },
    });
  });
});

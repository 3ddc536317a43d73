import fc from 'fast-check';
import type { ModelEvent } from '../model-event.js';
import type { Decoded } from '../text-dialect.js';
import { ResponsesDecoder } from './responses-decoder.js';
import { ResponsesEncoder } from './responses-encoder.js';
import { FACTS, read } from './responses.fixture.js';
import { OWN_FORMAT } from './sealed-reasoning.js';

const request = read({ model: 'acme/model', input: 'Hello', reasoning: { summary: 'auto' } });
const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
const args = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof(fc.string(), fc.integer()), {
  maxKeys: 3,
});

type Block =
  | { kind: 'text' | 'refusal'; pieces: string[] }
  | { kind: 'reasoning'; pieces: string[]; data: string }
  | { kind: 'call'; id: string; name: string; custom: boolean; pieces: string[] };

const blocks: fc.Arbitrary<Block[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constantFrom('text' as const, 'refusal' as const),
      pieces: fc.array(text, { minLength: 1, maxLength: 4 }),
    }),
    fc.record({
      kind: fc.constant('reasoning' as const),
      pieces: fc.array(text, { minLength: 1, maxLength: 3 }),
      data: text,
    }),
    fc.record({
      kind: fc.constant('call' as const),
      id: fc.uuid(),
      name: fc.constantFrom('look', 'go'),
      custom: fc.boolean(),
      pieces: args.map((value) => [JSON.stringify(value)]),
    }),
  ),
  { maxLength: 6 },
);

function eventsOf(list: readonly Block[]): ModelEvent[] {
  const events: ModelEvent[] = [
    { type: 'start', id: 'resp_x', created: 1_700_000_001, systemFingerprint: null, serviceTier: 'default' },
  ];
  let call = 0;
  for (const block of list) {
    const { pieces } = block;
    if (block.kind === 'call') {
      const { id, name, custom } = block;
      events.push({ type: 'tool_start', choice: 0, call, id, name, custom });
      for (const piece of pieces) events.push({ type: 'tool_arguments', choice: 0, call, text: piece });
      events.push({ type: 'tool_end', choice: 0, call });
      call += 1;
    } else if (block.kind === 'reasoning') {
      for (const piece of pieces)
        events.push({ type: 'reasoning', choice: 0, text: piece, format: OWN_FORMAT });
      events.push({ type: 'opaque_reasoning', choice: 0, data: block.data, format: OWN_FORMAT });
    } else {
      const { kind } = block;
      for (const piece of pieces) events.push({ type: kind, choice: 0, text: piece });
    }
  }
  const usage = {
    prompt_tokens: 7,
    cached_tokens: 2,
    cache_write_tokens: 1,
    cache_write_1h_tokens: 0,
    audio_input_tokens: 0,
    completion_tokens: 3,
    reasoning_tokens: 1,
  };
  const reason = call > 0 ? 'tool_calls' : 'stop';
  events.push({ type: 'finish', choice: 0, reason, native: 'completed', stopSequence: null });
  events.push({ type: 'usage', usage, raw: {} }, { type: 'end' });
  return events;
}

const decoded = (events: ModelEvent[]): Decoded => ({ events, raw: null, source: null });

/** Events as an answer means them: pieces of one block together, nothing of the wire. */
function meaning(events: readonly ModelEvent[]): unknown[] {
  const said: unknown[] = [];
  let last = '';
  for (const event of events) {
    if (event.type === 'ping') continue;
    if (event.type === 'usage') {
      said.push({ usage: event.usage });
      continue;
    }
    const key = 'text' in event ? `${event.type}${'call' in event ? event.call : ''}` : '';
    if ('text' in event && key === last) {
      const before = said.at(-1) as { text: string };
      before.text += event.text;
    } else said.push({ ...event });
    last = key;
  }
  return said;
}

/** Objects of a stream; a text may hold separators that a regular expression takes for the end of a line. */
function objectsOf(stream: string): Record<string, unknown>[] {
  const lines = stream.split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>);
}

function readInPieces(bytes: Uint8Array, cuts: readonly number[]): ModelEvent[] {
  const decoder = new ResponsesDecoder();
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const events: ModelEvent[] = [];
  let from = 0;
  for (const end of [...ends, bytes.length]) {
    for (const frame of decoder.push(bytes.subarray(from, end))) events.push(...frame.events);
    from = end;
  }
  for (const frame of decoder.end()) events.push(...frame.events);
  return events;
}

describe('the responses format', () => {
  it('RESP-05 reads back what it writes, however the stream is cut', () => {
    const cuts = fc.array(fc.nat(), { maxLength: 12 });
    fc.assert(
      fc.property(blocks, cuts, (list, at) => {
        const events = eventsOf(list);
        const stream = new ResponsesEncoder(FACTS, request).write(decoded(events));
        expect(meaning(readInPieces(Buffer.from(stream), at))).toEqual(meaning(events));
      }),
      { numRuns: 200 },
    );
  });

  it('RESP-01 RESP-05 says the same plain as streamed', () => {
    fc.assert(
      fc.property(blocks, (list) => {
        const events = eventsOf(list);
        const plain = new ResponsesEncoder(FACTS, request).whole(decoded(events));
        expect(meaning(new ResponsesDecoder().whole(plain).events)).toEqual(meaning(events));
        const stream = new ResponsesEncoder(FACTS, request).write(decoded(events));
        expect(objectsOf(stream).at(-1)?.response).toEqual(plain);
        expect(stream.endsWith('\n\ndata: [DONE]\n\n')).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('numbers every event once, and closes each item it has opened before the response is over', () => {
    fc.assert(
      fc.property(blocks, (list) => {
        const stream = new ResponsesEncoder(FACTS, request).write(decoded(eventsOf(list)));
        const objects = objectsOf(stream);
        expect(objects.map((object) => object.sequence_number)).toEqual(objects.map((_, at) => at));
        const added = objects.filter(({ type }) => type === 'response.output_item.added');
        const done = objects.filter(({ type }) => type === 'response.output_item.done');
        expect(done.map((event) => event.output_index).sort()).toEqual(
          added.map((event) => event.output_index).sort(),
        );
        const final = objects.at(-1)?.response as { output: { id: string }[] };
        expect(final.output).toHaveLength(done.length);
        expect(new Set(final.output.map(({ id }) => id)).size).toBe(done.length);
      }),
      { numRuns: 100 },
    );
  });

  it('never throws, whatever an upstream sends, and ends every stream in one end or error', () => {
    const type = fc.constantFrom(
      'response.created',
      'response.output_item.added',
      'response.output_item.done',
      'response.output_text.delta',
      'response.function_call_arguments.delta',
      'response.reasoning_summary_part.added',
      'response.completed',
      'response.failed',
      'error',
    );
    const event = fc.record(
      {
        type,
        output_index: fc.oneof(fc.nat(4), fc.string()),
        delta: fc.jsonValue(),
        item: fc.oneof(
          fc.jsonValue(),
          fc.record({
            type: fc.constantFrom('message', 'function_call', 'reasoning'),
            content: fc.jsonValue(),
          }),
        ),
        response: fc.oneof(
          fc.jsonValue(),
          fc.record({ output: fc.jsonValue(), usage: fc.jsonValue(), status: fc.jsonValue() }),
        ),
        error: fc.jsonValue(),
      },
      { requiredKeys: ['type'] },
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(event, fc.jsonValue()), { maxLength: 8 }), (list) => {
        const bytes = Buffer.from(list.map((one) => `data: ${JSON.stringify(one)}\n\n`).join(''));
        const events = readInPieces(bytes, []);
        const last = events.filter(({ type: kind }) => kind === 'end' || kind === 'error');
        expect(last).toHaveLength(1);
        expect(events.at(-1)).toBe(last[0]);
        for (const one of list)
          if (typeof one === 'object' && one !== null && !Array.isArray(one))
            expect(() => new ResponsesDecoder().whole(one as Record<string, unknown>)).not.toThrow();
      }),
      { numRuns: 300 },
    );
  });
});

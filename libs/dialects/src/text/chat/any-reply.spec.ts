import fc from 'fast-check';
import { dialect } from './chat.dialect.js';
import {
  chunk,
  cut,
  decoder,
  editedAnswer,
  editedStream,
  encodedStream,
  eventsIn,
  eventsOf,
  facts,
  finishChunk,
  foldOf,
  HEAD,
  joined,
  joinedPlain,
  plainEvents,
  USAGE,
  wire,
} from './chat-samples.fixture.js';
import type { JsonObject } from '../../body/json-object.js';

interface Reply {
  content: string[];
  reasoning: string[];
  calls: { name: string; pieces: string[] }[];
  finish: string;
}

const callArbitrary = fc
  .record({
    name: fc.stringMatching(/^[a-z]{1,8}$/),
    arguments: fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }),
    size: fc.integer({ min: 1, max: 9 }),
  })
  .map(({ name, arguments: value, size }) => {
    const text = JSON.stringify(value);
    return {
      name,
      pieces: Array.from({ length: Math.ceil(text.length / size) }, (_, k) =>
        text.slice(k * size, (k + 1) * size),
      ),
    };
  });

const reply: fc.Arbitrary<Reply> = fc.record({
  content: fc.array(fc.string({ unit: 'grapheme', maxLength: 8 }), { maxLength: 5 }),
  reasoning: fc.array(fc.string({ unit: 'grapheme', maxLength: 8 }), { maxLength: 3 }),
  calls: fc.array(callArbitrary, { maxLength: 3 }),
  finish: fc.constantFrom('stop', 'length', 'tool_calls', 'end_turn', 'odd_reason'),
});

function chunksOfReply({ content, reasoning, calls, finish }: Reply): JsonObject[] {
  return [
    chunk({ role: 'assistant', content: '' }),
    ...reasoning.map((text) => chunk({ reasoning_content: text })),
    ...content.map((text) => chunk({ content: text })),
    ...calls.flatMap(({ name, pieces }, index) => [
      chunk({
        tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }],
      }),
      ...pieces.map((text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })),
    ]),
    finishChunk(finish),
    chunk(null, { usage: USAGE }),
  ];
}

function plainOfReply({ content, reasoning, calls, finish }: Reply): JsonObject {
  const message = {
    role: 'assistant',
    content: content.join(''),
    reasoning_content: reasoning.join(''),
    tool_calls: calls.map(({ name, pieces }, index) => ({
      id: `call_${index}`,
      type: 'function',
      function: { name, arguments: pieces.join('') },
    })),
  };
  return { ...HEAD, choices: [{ index: 0, message, finish_reason: finish }], usage: USAGE };
}

const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 });

describe('chat answers, for any reply', () => {
  it('CHAT-16 joins to the same on every road: plain or streamed, translated or edited', () => {
    fc.assert(
      fc.property(reply, (given) => {
        const chunks = chunksOfReply(given);
        const plain = plainOfReply(given);
        const folded = joinedPlain(foldOf(plainEvents(plain)));
        const edited = editedAnswer(plain);
        const fromStream = foldOf(eventsOf(chunks));
        expect(joinedPlain(fromStream)).toEqual(folded);
        expect(joinedPlain(edited)).toEqual(folded);
        expect(joined(encodedStream(eventsOf(chunks)))).toEqual(folded);
        expect(joined(editedStream(chunks))).toEqual(folded);
        expect(folded.content).toBe(given.content.join(''));
        expect(fromStream.usage).toEqual(edited.usage);
      }),
    );
  });

  it('reads the same events and writes the same frames however the bytes are cut', () => {
    fc.assert(
      fc.property(reply, cuts, fc.constantFrom('\n', '\r\n', '\r'), (given, lengths, lineEnd) => {
        const text = wire(chunksOfReply(given)).toString('utf8').replaceAll('\n\n', `${lineEnd}${lineEnd}`);
        const bytes = Buffer.from(text);
        expect(eventsIn(cut(decoder(), bytes, lengths))).toEqual(eventsIn(cut(decoder(), bytes)));
        const frames = [lengths, [bytes.length]].map((sizes) => {
          const encoder = dialect.caller.encoder(facts(), true);
          return cut(decoder(), bytes, sizes)
            .map((frame) => encoder.write(frame))
            .join('');
        });
        expect(frames[0]).toBe(frames[1]);
      }),
    );
  });

  it('decodes what it encoded: a stream read again gives the same answer', () => {
    fc.assert(
      fc.property(reply, (given) => {
        const stream = encodedStream(eventsOf(chunksOfReply(given)));
        const again = eventsIn(cut(decoder(), Buffer.from(stream)));
        expect(joined(encodedStream(again))).toEqual(joined(stream));
      }),
    );
  });

  it('never throws, whatever JSON the upstream sends, and ends in exactly one end or error', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue({ maxDepth: 4 })),
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })),
        (chunks, answer) => {
          for (const events of [eventsOf(chunks, {}, false), plainEvents(answer)]) {
            const last = events.filter(({ type }) => type === 'end' || type === 'error');
            expect(last).toEqual([events.at(-1)]);
          }
        },
      ),
    );
  });

  it('never throws for chunks of the right shape with anything in them', () => {
    const anything = fc.jsonValue({ maxDepth: 3 });
    const delta = fc.record(
      {
        content: anything,
        tool_calls: anything,
        function_call: anything,
        reasoning_details: anything,
        annotations: anything,
        audio: anything,
      },
      { requiredKeys: [] },
    );
    const part = fc.record(
      {
        id: anything,
        created: anything,
        usage: anything,
        citations: anything,
        choices: fc.array(fc.record({ index: anything, delta, finish_reason: anything }), { maxLength: 3 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(part), (chunks) => {
        const events = eventsOf(chunks);
        expect(events.filter(({ type }) => type === 'end' || type === 'error')).toEqual([events.at(-1)]);
        editedStream(chunks);
      }),
    );
  });
});

import fc from 'fast-check';
import { TEXT_DIALECTS } from '../families.generated.js';
import type { ModelEvent } from './model-event.js';
import { toolSignature } from './tool-signature.js';
import type { AnswerDecoder, Decoded } from './text-dialect.js';
import { streamOf, target, UPSTREAM_SAMPLES, type UpstreamSample } from './upstream-streams.fixture.js';

type Json = Record<string, unknown>;

function decoderOf({ dialect }: UpstreamSample): AnswerDecoder {
  const found = TEXT_DIALECTS.get(dialect);
  if (!found) throw new Error(`no dialect ${dialect}`);
  return found.upstream.decoder(target({ dialect }));
}

const eventsOf = (frames: Decoded[]): ModelEvent[] => frames.flatMap(({ events }) => events);

/** Everything of a stream that comes in these pieces. */
function read(sample: UpstreamSample, pieces: readonly Uint8Array[]): ModelEvent[] {
  const decoder = decoderOf(sample);
  return eventsOf([...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()]);
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % bytes.length))].sort((a, b) => a - b);
  return [0, ...ends].map((from, at, all) => bytes.subarray(from, all[at + 1] ?? bytes.length));
}

/** Text joined, calls by number: what a caller sees of the events. */
function answerOf(events: readonly ModelEvent[]): Json {
  const joined = (type: 'text' | 'reasoning'): string =>
    events.map((event) => (event.type === type ? event.text : '')).join('');
  const calls = events.flatMap((event) => (event.type === 'tool_start' ? [event] : []));
  return {
    text: joined('text'),
    reasoning: joined('reasoning'),
    calls: calls.map(({ name, call, id }) => ({
      name,
      id,
      arguments: events
        .map((event) => (event.type === 'tool_arguments' && event.call === call ? event.text : ''))
        .join(''),
    })),
    finish: events.flatMap((event) => (event.type === 'finish' ? [[event.reason, event.native]] : [])),
    usage: events.flatMap((event) => (event.type === 'usage' ? [event.usage] : [])).at(-1),
    signatures: events.flatMap((event) => (event.type === 'reasoning_signature' ? [event.signature] : [])),
  };
}

const lastOf = (events: readonly ModelEvent[]): (string | undefined)[] =>
  events.map(({ type }) => type).filter((type) => type === 'end' || type === 'error');

describe.each(UPSTREAM_SAMPLES.map((sample) => [sample.dialect, sample] as const))(
  'an answer in %s',
  (_name, sample) => {
    const bytes = streamOf(sample);

    it('gives text, reasoning, both calls, the finish and the counts, and ends', () => {
      const events = read(sample, [bytes]);
      expect(events[0]?.type).toBe('start');
      expect(events.at(-1)?.type).toBe('end');
      expect(answerOf(events)).toMatchObject({
        text: 'Let me look. 🌦',
        reasoning: 'Zwei Städte – 两个.',
        calls: [
          { name: 'weather', arguments: '{"city":"Zürich"}' },
          { name: 'now', arguments: '{}' },
        ],
        finish: [['tool_calls', expect.any(String)]],
        usage: { prompt_tokens: 20, completion_tokens: 12 },
      });
    });

    it('gives the same whole: a stream and its plain twin agree', () => {
      expect(answerOf(decoderOf(sample).whole(sample.plain).events)).toEqual(answerOf(read(sample, [bytes])));
    });

    it('gives the same events however the network cuts its bytes', () => {
      const whole = read(sample, [bytes]);
      fc.assert(
        fc.property(fc.array(fc.nat(), { maxLength: 40 }), (places) => {
          expect(read(sample, cut(bytes, places))).toEqual(whole);
        }),
        { numRuns: 60 },
      );
      expect(
        read(
          sample,
          [...bytes].map((byte) => Buffer.from([byte])),
        ),
      ).toEqual(whole);
    });

    it('is a failure of the connection where it stops before its end, and never a finish that was not said', () => {
      const finishing = sample.frames.findIndex((frame) =>
        JSON.stringify(frame).match(/finish|stopReason|"done":true/i),
      );
      for (let kept = 0; kept <= finishing - 1; kept += 1) {
        const events = read(sample, [streamOf({ ...sample, closing: '' }, sample.frames.slice(0, kept))]);
        expect(events.at(-1)).toMatchObject({ type: 'error', failure: { kind: 'connection' } });
        expect(events.some(({ type }) => type === 'finish')).toBe(false);
      }
    });

    it('ends once and never throws, whatever a provider sends', () => {
      const anything = fc.oneof(fc.json(), fc.string());
      fc.assert(
        fc.property(
          fc.array(anything, { maxLength: 5 }),
          fc.uint8Array({ maxLength: 60 }),
          (frames, noise) => {
            const framed = frames.map((text) => {
              try {
                return sample.framed(JSON.parse(text) as Json);
              } catch {
                return Buffer.from(`${text}\n\n`);
              }
            });
            const events = read(sample, [...framed, noise]);
            expect(lastOf(events)).toHaveLength(1);
            expect(['end', 'error']).toContain(events.at(-1)?.type);
          },
        ),
        { numRuns: 100 },
      );
    });

    it('ends once and never throws where any member of a frame is something else', () => {
      fc.assert(
        fc.property(fc.nat(), fc.nat(), fc.jsonValue({ maxDepth: 2 }), (at, member, value) => {
          const frames = sample.frames.map((frame, position) =>
            position === at % sample.frames.length ? changed(frame, member, value) : frame,
          );
          expect(lastOf(read(sample, [streamOf(sample, frames)]))).toHaveLength(1);
          expect(lastOf(decoderOf(sample).whole(changed(sample.plain, member, value)).events)).toHaveLength(
            1,
          );
        }),
        { numRuns: 200 },
      );
    });

    it('gives up on a frame that never ends', () => {
      const decoder = decoderOf(sample);
      const piece = Buffer.alloc(1_048_576, 'a');
      let events: ModelEvent[] = [];
      for (let sent = 0; sent < 40 && events.length === 0; sent += 1) events = eventsOf(decoder.push(piece));
      expect(events).toMatchObject([{ type: 'error', failure: { kind: 'bad_response' } }]);
      expect(decoder.push(piece)).toEqual([]);
    });
  },
);

/** The frame with one of its members, at any depth, replaced. */
function changed(frame: Json, member: number, value: unknown): Json {
  const places: [Json, string][] = [];
  const copy = JSON.parse(JSON.stringify(frame)) as Json;
  const walk = (holder: unknown): void => {
    if (typeof holder !== 'object' || holder === null) return;
    for (const name of Object.keys(holder)) {
      places.push([holder as Json, name]);
      walk((holder as Json)[name]);
    }
  };
  walk(copy);
  const [holder, name] = places[member % places.length];
  holder[name] = value;
  return copy;
}

describe('a call that Google signed', () => {
  it('carries its signature in its id, because clients drop what they do not know', () => {
    const [gemini] = UPSTREAM_SAMPLES;
    const { calls } = answerOf(read(gemini, [streamOf(gemini)])) as { calls: { id: string }[] };
    expect(calls.map(({ id }) => toolSignature(id))).toEqual(['c2ln+/8=', null]);
    expect(calls[0].id).toMatch(/^call_[0-9a-f]{24}__sig_[A-Za-z0-9_-]+$/);
  });
});

describe('an answer of Bedrock', () => {
  it('says nothing behind its finish, and is counted there all the same', () => {
    const [, converse] = UPSTREAM_SAMPLES;
    const late = { contentBlockDelta: { contentBlockIndex: 9, delta: { text: 'late' } } };
    const frames = converse.frames.flatMap((frame) => ('messageStop' in frame ? [frame, late] : [frame]));
    const plain = read(converse, [streamOf(converse)]);
    expect(read(converse, [streamOf(converse, frames)])).toEqual(plain);
    expect(plain.some(({ type }) => type === 'usage')).toBe(true);
  });
});

describe('logprobs that were asked of Gemini', () => {
  const token = (text: string, logProbability?: number): Json => ({
    token: text,
    tokenId: 7,
    logProbability,
  });
  const measured = (chosenCandidates: Json[], ...tops: Json[][]): Json => ({
    logprobsResult: { chosenCandidates, topCandidates: tops.map((candidates) => ({ candidates })) },
  });
  const said = (text: string, more: Json): Json => ({
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, ...more }],
  });
  const eiffel = { token: 'é', logprob: -0.5, bytes: [0xc3, 0xa9] };
  const yes = { token: 'Oui', logprob: 0, bytes: [79, 117, 105] };
  const no = { token: 'Non', logprob: -3, bytes: [78, 111, 110] };
  const logprobsIn = (events: readonly ModelEvent[]): unknown =>
    events.flatMap((event) => (event.type === 'text' ? [[event.text, event.logprobs]] : []));

  it('CHAT-14 stand beside the text as chat has them, also where tokens come without one', () => {
    const [gemini] = UPSTREAM_SAMPLES;
    const frames = [
      said('Oui', measured([token('Oui')], [token('Oui'), token('Non', -3)])),
      said('', measured([token('é', -0.5)])),
      said('!', { finishReason: 'STOP' }),
    ];
    expect(logprobsIn(read(gemini, [streamOf(gemini, frames)]))).toEqual([
      ['Oui', { content: [{ ...yes, top_logprobs: [yes, no] }], refusal: null }],
      ['', { content: [{ ...eiffel, top_logprobs: [] }], refusal: null }],
      ['!', undefined],
    ]);
    const whole = said('Oui', { ...measured([token('Oui')], [token('Oui')]), finishReason: 'STOP' });
    expect(logprobsIn(decoderOf(gemini).whole(whole).events)).toEqual([
      ['Oui', { content: [{ ...yes, top_logprobs: [yes] }], refusal: null }],
    ]);
  });
});

import { ApiError } from '@gateway/contracts';
import {
  Unsupported,
  type Answer,
  type AnswerFacts,
  type Piece,
  type RouteTarget,
  type SpeechRequest,
  type Translation,
} from '@gateway/dialects';
import fc from 'fast-check';
import type { Asked } from '../endpoint.js';
import { endpoint } from './speech.endpoint.js';
import { wholeBody } from '../stored/stored-content-needed.js';

const route = (upstreamModel: string): RouteTarget => ({
  dialect: 'speech',
  upstreamModel,
  maxOutputTokens: null,
  contextLength: 4_096,
  reasoning: { style: 'none' },
  fixesSampling: false,
  quirks: {},
});
const hello = { input: 'Hello', voice: 'alloy' };

function read(body: unknown): Asked<SpeechRequest> {
  return wholeBody(endpoint.read({ bytes: Buffer.from(JSON.stringify(body)), headers: {} }));
}

function translated(body: unknown, upstreamModel = 'gpt-tts'): Translation {
  const found = endpoint.translate(read(body), route(upstreamModel));
  if (found instanceof Unsupported) throw new Error(`a misfit by ${found.param}`);
  return found;
}

function sent(body: unknown, upstreamModel?: string): unknown {
  return JSON.parse(Buffer.concat(translated(body, upstreamModel).request.pieces).toString());
}

const begin = (contentType: string, body: unknown = hello): Answer =>
  translated(body).begin({ status: 200, contentType }, {} as AnswerFacts);

const audioOf = (pieces: Piece[]): string =>
  Buffer.concat(pieces.map(({ out }) => Buffer.from(out as Uint8Array))).toString();

const delta = (text: string): string =>
  `data: {"type":"speech.audio.delta","audio":"${Buffer.from(text).toString('base64')}"}\n\n`;
const DONE = 'data: {"type":"speech.audio.done","usage":{"input_tokens":3,"output_tokens":7}}\n\n';

describe('the endpoint of speech', () => {
  it('counts characters as a person does, and their bytes for the estimate', () => {
    const asked = read({ ...hello, input: 'Hé 😀', instructions: 'ok', model: 'm' });
    expect(asked).toMatchObject({ model: 'm', billableUnits: { characters: 4 }, input: { inputBytes: 10 } });
  });

  it('holds the seconds that a slow voice takes, at the speed that is asked for', () => {
    expect(read({ ...hello, input: 'a'.repeat(100) }).billableUnits.audio_seconds).toBe('10.000');
    expect(read({ ...hello, input: 'a'.repeat(100), speed: 0.25 }).billableUnits.audio_seconds).toBe(
      '40.000',
    );
  });

  it.each([
    [{ voice: 'alloy' }, 'input'],
    [{ input: 'a' }, 'voice'],
    [{ ...hello, input: '' }, 'input'],
    [{ ...hello, input: 'a'.repeat(4_097) }, 'input'],
    [{ ...hello, voice: 7 }, 'voice'],
    [{ ...hello, voice: {} }, 'voice.id'],
    [{ ...hello, voice: { name: 'alloy' } }, 'voice.id'],
    [{ ...hello, voice: { id: '' } }, 'voice.id'],
    [{ ...hello, response_format: 'midi' }, 'response_format'],
    [{ ...hello, speed: 5 }, 'speed'],
    [{ ...hello, stream_format: 'x' }, 'stream_format'],
  ])('refuses %j by its parameter', (body, param) => {
    expect(() => read(body)).toThrow(ApiError);
    try {
      read(body);
    } catch (error) {
      const { status, code, options } = error as ApiError;
      expect([status, code, options.param]).toEqual([422, 'validation_error', param]);
    }
  });

  it('asks for events where the model has them, because they hold the counts', () => {
    expect(sent({ ...hello, odd: 1 })).toEqual({ ...hello, odd: 1, model: 'gpt-tts', stream_format: 'sse' });
    expect(sent({ ...hello, stream_format: 'audio' }, 'tts-1-hd')).toEqual({ ...hello, model: 'tts-1-hd' });
  });

  it('has no way to another dialect', () => {
    expect(endpoint.translate(read(hello), { ...route('m'), dialect: 'chat' })).toEqual(
      new Unsupported(null),
    );
  });

  it('passes bytes of audio on as they come, under the provider’s type', () => {
    const answer = begin('audio/mpeg');
    expect([answer.isWhole, answer.headers['content-type']]).toEqual([false, 'audio/mpeg']);
    const pieces = [...answer.push(Buffer.from('ab')), ...answer.push(Buffer.from('c')), ...answer.end()];
    expect(pieces.map(({ kind }) => kind)).toEqual(['part', 'part', 'end']);
    expect(audioOf(pieces)).toBe('abc');
    expect(pieces.at(-1)?.usage).toEqual({
      characters: 5,
      prompt_tokens: 0,
      completion_tokens: 0,
      audio_output_tokens: 0,
    });
  });

  it('decodes events to bytes of the type that was asked for, and reads their counts', () => {
    const answer = begin('text/event-stream', { ...hello, response_format: 'opus' });
    expect(answer.headers['content-type']).toBe('audio/opus');
    const pieces = [...answer.push(Buffer.from(delta('ab') + delta('c') + DONE)), ...answer.end()];
    expect(pieces.map(({ kind }) => kind)).toEqual(['part', 'part', 'end']);
    expect(audioOf(pieces)).toBe('abc');
    expect(pieces.at(-1)?.usage).toEqual({
      characters: 5,
      prompt_tokens: 3,
      completion_tokens: 7,
      audio_output_tokens: 7,
    });
  });

  const sse = { ...hello, stream_format: 'sse' };
  const FACTS = { believed: (usage) => usage } as AnswerFacts;
  const events = (answer: Answer, chunks: string[]): { type: string; audio?: string; usage?: unknown }[] => {
    const pieces = [...chunks.flatMap((chunk) => answer.push(Buffer.from(chunk))), ...answer.end()];
    const out = pieces.map((piece) => piece.out as string).join('');
    return out
      .split('\n\n')
      .filter(Boolean)
      .map((frame) => JSON.parse(frame.slice('data: '.length)) as { type: string });
  };
  const eventsOf = (model: string, contentType: string, chunks: string[]): ReturnType<typeof events> =>
    events(translated(sse, model).begin({ status: 200, contentType }, FACTS), chunks);

  it('answers events where they are asked for, of an upstream that has them', () => {
    expect(read(sse).stream).toBe(true);
    const answer = translated(sse).begin({ status: 200, contentType: 'text/event-stream' }, FACTS);
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const found = eventsOf('gpt-tts', 'text/event-stream', [delta('ab'), delta('c') + DONE]);
    expect(found).toEqual([
      { type: 'speech.audio.delta', audio: 'YWI=' },
      { type: 'speech.audio.delta', audio: 'Yw==' },
      { type: 'speech.audio.done', usage: { input_tokens: 3, output_tokens: 7, total_tokens: 10 } },
    ]);
  });

  it('answers events of an upstream of bytes, each as it comes and none too large', () => {
    const long = 'x'.repeat(100_000);
    const found = eventsOf('tts-1', 'audio/mpeg', ['ab', long]);
    expect(found.map(({ type }) => type)).toEqual([
      ...Array<string>(4).fill('speech.audio.delta'),
      'speech.audio.done',
    ]);
    const audio = found.map((event) => Buffer.from(event.audio ?? '', 'base64').toString()).join('');
    expect(audio).toBe(`ab${long}`);
    expect(found.at(-1)?.usage).toEqual({ input_tokens: 0, output_tokens: 0, total_tokens: 0 });
  });

  it('says in-band that events broke off', () => {
    const answer = translated(sse).begin({ status: 200, contentType: 'text/event-stream' }, FACTS);
    answer.push(Buffer.from(delta('ab')));
    expect(answer.end()).toMatchObject([{ kind: 'failure', out: '' }]);
    expect(answer.fail(new ApiError('upstream_error', { message: 'gone' }))).toBe(
      'data: {"type":"error","error":{"message":"gone"}}\n\n',
    );
  });

  it('reads as a failure what is no audio, nothing, an error or cut off', () => {
    expect(begin('application/json').push(Buffer.from('{"error":{}}'))).toMatchObject([{ kind: 'failure' }]);
    expect(begin('audio/mpeg').end()).toMatchObject([{ kind: 'failure' }]);
    const failed = begin('text/event-stream').push(Buffer.from('data: {"error":{"message":"no"}}\n\n'));
    expect(failed).toMatchObject([{ kind: 'failure', failure: { kind: 'in_band', message: 'no' } }]);
    const cut = begin('text/event-stream');
    cut.push(Buffer.from(delta('ab')));
    expect(cut.end()).toMatchObject([{ kind: 'failure', failure: { kind: 'connection' } }]);
  });

  it('gives the same audio for any split of the events, and ends once whatever bytes come', () => {
    const bytes = Buffer.from(delta('ab') + delta('cde') + DONE);
    const cuts = fc.array(fc.nat(bytes.length), { maxLength: 6 });
    fc.assert(
      fc.property(cuts, (at) => {
        const edges = [0, ...at.sort((a, b) => a - b), bytes.length];
        const answer = begin('text/event-stream');
        const pieces = edges.slice(1).flatMap((end, n) => answer.push(bytes.subarray(edges[n], end)));
        expect(audioOf([...pieces, ...answer.end()])).toBe('abcde');
      }),
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const answer = begin('text/event-stream');
        const pieces = [...answer.push(Buffer.from(`data: ${text}\n\n`)), ...answer.end()];
        const last = pieces.filter(({ kind }) => kind === 'end' || kind === 'failure');
        expect(last).toHaveLength(1);
      }),
    );
  });
});

import { parseBody, type ParsedBody } from '@gateway/json-body';
import type { Answer, RouteTarget } from '../../translation/translation.js';
import type { SpeechRequest } from '../speech-dialect.js';
import { dialect } from './openai.dialect.js';

const SENT = '{"model":"acme/voice","input":"Hello","voice":"alloy","stream_format":"audio"}';
const request = (format = 'mp3'): SpeechRequest => ({
  characters: 5,
  format,
  body: parseBody(Buffer.from(SENT)) as ParsedBody,
});
const target = (upstreamModel: string): RouteTarget => ({ upstreamModel }) as RouteTarget;
const begin = (contentType: string, format?: string): Answer =>
  dialect.begin({ status: 200, contentType }, request(format));
const events = (...list: unknown[]): Buffer =>
  Buffer.from(list.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join(''));
const counted = (prompt: number, spoken: number): object => ({
  characters: 5,
  prompt_tokens: prompt,
  completion_tokens: spoken,
  audio_output_tokens: spoken,
});

describe('a request for speech', () => {
  it('asks for events, whose last one holds the counts, but of models that have none', () => {
    const sent = (model: string): unknown => {
      const { pieces, byteLength, ...rest } = dialect.encode(request(), target(model));
      const bytes = Buffer.concat(pieces);
      expect(byteLength).toBe(bytes.byteLength);
      return { ...rest, body: JSON.parse(bytes.toString()) as unknown };
    };
    const head = {
      path: '/audio/speech',
      contentType: 'application/json',
      accept: 'audio/*, text/event-stream',
    };
    const body = { input: 'Hello', voice: 'alloy' };
    expect(sent('gpt-4o-mini-tts')).toEqual({
      ...head,
      body: { ...body, model: 'gpt-4o-mini-tts', stream_format: 'sse' },
    });
    expect(sent('tts-1-hd')).toEqual({ ...head, body: { ...body, model: 'tts-1-hd' } });
  });
});

describe('an answer of bytes', () => {
  it('goes on chunk by chunk, with the characters as what is used', () => {
    const answer = begin('audio/ogg');
    const chunk = Buffer.from([1, 2, 3]);
    expect([answer.isWhole, answer.headers]).toEqual([false, { 'content-type': 'audio/ogg' }]);
    expect(answer.push(Buffer.alloc(0))).toEqual([{ kind: 'wait', out: '' }]);
    expect(answer.push(chunk)).toEqual([{ kind: 'part', out: chunk, usage: counted(0, 0) }]);
    expect(answer.end()).toEqual([{ kind: 'end', out: '', usage: counted(0, 0), finishSeen: true }]);
    expect(answer.fail(new Error() as never)).toBeNull();
  });

  it.each([
    ['mp3', 'audio/mpeg'],
    ['opus', 'audio/opus'],
    ['aac', 'audio/aac'],
    ['flac', 'audio/flac'],
    ['wav', 'audio/wav'],
    ['pcm', 'audio/pcm'],
    ['other', 'application/octet-stream'],
  ])('of no type has that of the format that was asked for: %s', (format, type) => {
    const headers = { 'content-type': type };
    expect(begin('application/octet-stream', format)).toMatchObject({ isWhole: false, headers });
    expect(begin('text/event-stream; charset=utf-8', format)).toMatchObject({ isWhole: false, headers });
  });

  it('is none where it is a message, or empty', () => {
    const message = begin('application/json');
    expect(message.isWhole).toBe(true);
    expect(message.push(Buffer.from('{}'))).toMatchObject([
      { kind: 'failure', failure: { kind: 'bad_response' } },
    ]);
    expect(begin('audio/mpeg').end()).toMatchObject([{ kind: 'failure', failure: { kind: 'bad_response' } }]);
  });
});

describe('an answer of events', () => {
  const audio = { type: 'speech.audio.delta', audio: Buffer.from('sound').toString('base64') };
  const usage = { input_tokens: 14, output_tokens: 101, total_tokens: 115 };

  it('is played as bytes, and its last event says what is billed', () => {
    const answer = begin('text/event-stream');
    expect(answer.push(events(audio))).toEqual([
      {
        ...{ kind: 'part', out: Buffer.from('sound'), deliveredBytes: 4 },
        usage: { characters: 5, audio_output_tokens: 1 },
      },
    ]);
    expect(answer.push(events({ type: 'speech.audio.delta', audio: '' }))).toEqual([
      { kind: 'wait', out: '' },
    ]);
    expect(answer.push(events({ type: 'speech.audio.done', usage }, audio, '[DONE]'))).toEqual([
      { kind: 'end', out: '', usage: counted(14, 101), deliveredBytes: 4, finishSeen: true },
    ]);
    expect([answer.end(), answer.fail(new Error() as never)]).toEqual([[], null]);
  });

  it.each([
    [
      { input_tokens: '14', output_tokens: -1 },
      { characters: 5, audio_output_tokens: 1 },
    ],
    [{ input_tokens: 14 }, { characters: 5, prompt_tokens: 14, audio_output_tokens: 1 }],
    [{ output_tokens: 101 }, { characters: 5, completion_tokens: 101, audio_output_tokens: 101 }],
    [
      { input_tokens: 0, output_tokens: 0 },
      { characters: 5, audio_output_tokens: 1 },
    ],
    [undefined, { characters: 5, audio_output_tokens: 1 }],
  ])('leaves a side of %j that is no count to the estimate', (odd, known) => {
    const [, end] = begin('text/event-stream').push(events(audio, { type: 'speech.audio.done', usage: odd }));
    expect(end.usage).toEqual(known);
  });

  it.each([
    ['mp3', 20],
    ['aac', 25],
    ['opus', 25],
    ['wav', 9],
    ['flac', 9],
  ])('counts what was heard until its counts come: 20,000 bytes of %s are %i tokens', (format, tokens) => {
    const heard = { type: 'speech.audio.delta', audio: Buffer.alloc(10_000).toString('base64') };
    const [, second] = begin('text/event-stream', format).push(events(heard, heard));
    expect(second).toMatchObject({ usage: { audio_output_tokens: tokens }, deliveredBytes: 4 * tokens });
  });

  it('that ends without any audio is none, whatever it counts, and nobody pays for it', () => {
    expect(
      begin('text/event-stream').push(events({ type: 'speech.audio.done', usage }, '[DONE]')),
    ).toMatchObject([{ kind: 'failure', failure: { kind: 'bad_response' } }]);
  });

  it('that is cut is a lost connection after audio, and no answer before', () => {
    const kindAtEnd = (...list: unknown[]): unknown => {
      const answer = begin('text/event-stream');
      answer.push(events(...list));
      return answer.end();
    };
    expect(kindAtEnd(audio)).toMatchObject([{ kind: 'failure', failure: { kind: 'connection' } }]);
    expect(kindAtEnd('[DONE]')).toMatchObject([{ kind: 'failure', failure: { kind: 'bad_response' } }]);
  });

  it('reports the provider’s error with its words, what is no event, and one that is too long, once', () => {
    const failureOf = (...list: unknown[]): unknown => begin('text/event-stream').push(events(...list));
    const error = { type: 'error', error: { message: 'voice not found' } };
    expect(failureOf(error, audio)).toEqual([
      {
        kind: 'failure',
        out: '',
        failure: { kind: 'in_band', body: error, status: null, message: 'voice not found' },
      },
    ]);
    expect(failureOf('[1]', audio)).toMatchObject([{ failure: { kind: 'bad_response' } }]);
    const answer = begin('text/event-stream');
    expect(answer.push(Buffer.from(`data: ${'x'.repeat(40 * 1024 * 1024)}`))).toMatchObject([
      { kind: 'failure', failure: { kind: 'bad_response', message: expect.stringContaining('too long') } },
    ]);
    expect(answer.end()).toEqual([]);
  });
});

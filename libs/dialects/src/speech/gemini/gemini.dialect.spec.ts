import { parseBody, type ParsedBody } from '@gateway/json-body';
import { Unsupported, type Piece, type RouteTarget } from '../../translation/translation.js';
import type { SpeechRequest } from '../speech-dialect.js';
import { dialect } from './gemini.dialect.js';

const MODEL = 'gemini-3.1-flash-tts-preview';
const TARGET = { upstreamModel: MODEL } as RouteTarget;
const SAMPLES = Buffer.from([1, 0, 255, 127]);
const L16 = 'audio/L16;codec=pcm;rate=16000';
const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 25, totalTokenCount: 28 };
const usage = { characters: 5, prompt_tokens: 3, completion_tokens: 25, audio_output_tokens: 25 };

function request(more: object = {}): SpeechRequest {
  const sent = { model: 'mine', input: 'Hello', voice: 'Kore', ...more };
  const format = (more as { response_format?: string }).response_format ?? 'mp3';
  return { characters: 5, format, body: parseBody(Buffer.from(JSON.stringify(sent))) as ParsedBody };
}

function answerOf(...parts: object[]): object {
  return { candidates: [{ content: { parts }, finishReason: 'STOP' }], usageMetadata };
}

function part(mimeType: string, data = SAMPLES): object {
  return { inlineData: { mimeType, data: data.toString('base64') } };
}

function answered(body: unknown, more: object = {}): Piece[] {
  const answer = dialect.begin({ status: 200, contentType: 'application/json' }, request(more));
  return answer.push(Buffer.from(JSON.stringify(body)));
}

describe('speech of Gemini', () => {
  it.each([
    [{}, 'Hello', 'Kore'],
    [{ instructions: 'Say cheerfully', voice: { id: 'Puck' } }, 'Say cheerfully: Hello', 'Puck'],
    [{ instructions: '' }, 'Hello', 'Kore'],
  ])('asks for audio in a voice, how it is said before what is said: %j', (more, text, voiceName) => {
    const { pieces, ...head } = dialect.encode(request(more), TARGET);
    const bytes = Buffer.concat(pieces);
    const type = 'application/json';
    expect(head).toEqual({
      path: `/models/${MODEL}:generateContent`,
      ...{ contentType: type, accept: type, byteLength: bytes.byteLength },
    });
    expect(JSON.parse(bytes.toString())).toEqual({
      contents: [{ role: 'user', parts: [{ text }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } },
      },
    });
  });

  it.each([
    [L16, 16_000],
    ['audio/L16', 24_000],
  ])('answers samples (%s), which get the header of a WAV file', (mimeType, rate) => {
    const [piece] = answered(answerOf(part(mimeType)));
    expect(piece).toMatchObject({ kind: 'end', usage, finishSeen: true });
    const wav = piece.out as Buffer;
    expect(wav.toString('latin1', 0, 4) + wav.toString('latin1', 8, 16)).toBe('RIFFWAVEfmt ');
    const [size, channels, bits] = [wav.readUInt32LE(4), wav.readUInt16LE(22), wav.readUInt16LE(34)];
    expect([size, channels, bits]).toEqual([36 + SAMPLES.length, 1, 16]);
    expect([wav.readUInt32LE(24), wav.readUInt32LE(28)]).toEqual([rate, rate * 2]);
    expect([wav.toString('latin1', 36, 40), wav.readUInt32LE(40)]).toEqual(['data', SAMPLES.length]);
    expect(wav.subarray(44)).toEqual(SAMPLES);
  });

  it('joins the samples of all parts, and gives them raw where they are asked for so', () => {
    const body = answerOf(part(L16), { text: 'x' }, part(L16));
    const [piece] = answered(body, { response_format: 'pcm' });
    expect(piece.out).toEqual(Buffer.concat([SAMPLES, SAMPLES]));
    const answer = dialect.begin({ status: 200, contentType: '' }, request({ response_format: 'pcm' }));
    expect(answer.headers).toEqual({ 'content-type': 'audio/pcm' });
    expect(dialect.begin({ status: 200, contentType: '' }, request()).headers).toEqual({
      'content-type': 'audio/wav',
    });
  });

  it.each([-1, 0])('leaves to the estimate what was not counted, or counted %i', (count) => {
    const usageMetadata = { promptTokenCount: count, candidatesTokenCount: count };
    const [piece] = answered({ ...answerOf(part(L16)), usageMetadata });
    expect(piece).toMatchObject({ usage: { characters: 5, audio_output_tokens: 1 }, deliveredBytes: 4 });
    expect(Object.keys(piece.usage ?? {})).toEqual(['characters', 'audio_output_tokens']);
  });

  it.each([
    [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, { kind: 'in_band', status: 400 }],
    [{ candidates: [{ finishReason: 'SAFETY', finishMessage: 'No.' }] }, { status: 400, message: 'No.' }],
    [answerOf({ text: 'Hello' }), { kind: 'bad_response' }],
    [{}, { kind: 'bad_response' }],
    [[], { kind: 'bad_response' }],
  ])('says why %j holds no audio', (body, failure) => {
    expect(answered(body)).toMatchObject([{ kind: 'failure', failure }]);
  });

  it('makes WAV and raw samples alone; where no format is named it is WAV', () => {
    for (const response_format of ['mp3', 'opus', 'aac', 'flac'])
      expect(dialect.unsupported?.(request({ response_format }), TARGET)).toEqual(
        new Unsupported('response_format'),
      );
    for (const more of [
      {},
      { response_format: null },
      { response_format: 'wav' },
      { response_format: 'pcm' },
    ])
      expect(dialect.unsupported?.(request(more), TARGET)).toBeNull();
  });
});

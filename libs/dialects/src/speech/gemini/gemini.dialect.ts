import type { UnitUsage } from '@gateway/contracts';
import { objectOf, objectsOf, textOf, countOfSome, type JsonObject } from '../../body/json-object.js';
import { Unsupported } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE } from '../../translation/upstream-body.js';
import type { SpeechDialect, SpeechRequest } from '../speech-dialect.js';
import { spokenAnswer, voiceOf, type Spoken } from '../spoken-answer.js';
import { spokenTokens } from '../spoken-tokens.js';

const HEADER_BYTES = 44;
const SAMPLE_BYTES = 2;

/** A WAV file of samples of 16 bit in one channel. */
function wavOf(samples: Uint8Array, rate: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(HEADER_BYTES - 8 + samples.byteLength, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * SAMPLE_BYTES, 28);
  header.writeUInt16LE(SAMPLE_BYTES, 32);
  header.writeUInt16LE(8 * SAMPLE_BYTES, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(samples.byteLength, 40);
  return Buffer.concat([header, samples]);
}

const FILTERED = /SAFETY|PROHIBITED|BLOCKLIST|RECITATION|SPII/;
/** Samples a second, where the answer names none. */
const RATE = 24_000;

/** Gemini's speech: generateContent that answers samples of 16 bit, so it makes WAV and raw samples alone. */
export const dialect: SpeechDialect = {
  name: 'gemini-speech',
  takes: ['instructions'],
  unsupported: (request) => (formatOf(request) === null ? new Unsupported('response_format') : null),
  encode: (request, { upstreamModel }) => {
    const { input, instructions } = request.body.value;
    // How it is said stands before what is said: there is no member for it.
    const text = typeof instructions === 'string' && instructions !== '' ? `${instructions}: ` : '';
    return jsonBody(`/models/${upstreamModel}:generateContent`, JSON_TYPE, {
      contents: [{ role: 'user', parts: [{ text: `${text}${String(input)}` }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voiceOf(request) } } },
      },
    });
  },
  begin: (_head, request) => {
    const format = formatOf(request) ?? 'wav';
    return spokenAnswer(format, (answer) => spokenIn(answer, format, request));
  },
};

/** Returns the format; WAV where the caller names none, which the media type says; null: it cannot make it. */
function formatOf({ format, body }: SpeechRequest): 'wav' | 'pcm' | null {
  if (typeof body.value.response_format !== 'string') return 'wav';
  return format === 'wav' || format === 'pcm' ? format : null;
}

function spokenIn(answer: JsonObject, format: 'wav' | 'pcm', request: SpeechRequest): Spoken {
  const [{ content, finishReason, finishMessage } = {} as JsonObject] = objectsOf(answer.candidates);
  const found = objectsOf(objectOf(content).parts).map(({ inlineData }) => objectOf(inlineData));
  const samples = Buffer.concat(found.map(({ data }) => Buffer.from(textOf(data), 'base64')));
  const { tokens, deliveredBytes } = spokenTokens('pcm', samples.byteLength);
  const usage = countsOf(objectOf(answer.usageMetadata), request, tokens);
  if (samples.byteLength > 0) {
    const rate = Number(/rate=(\d{4,6})/.exec(textOf(found[0].mimeType))?.[1] ?? RATE);
    return { audio: format === 'pcm' ? samples : wavOf(samples, rate), usage, deliveredBytes };
  }
  const reason = textOf(objectOf(answer.promptFeedback).blockReason) || textOf(finishReason);
  if (!FILTERED.test(reason)) return { audio: samples, usage };
  const message = textOf(finishMessage) || 'the request was refused by a content filter.';
  const body = { error: { code: 'content_policy_violation', message } };
  return { failure: { kind: 'in_band', body, status: 400, message } };
}

/** A side that is no count is left out, and estimated: the output by what is heard of it. */
function countsOf(metadata: JsonObject, { characters }: SpeechRequest, tokens: number): UnitUsage {
  const read = countOfSome(metadata.promptTokenCount);
  const spoken = countOfSome(metadata.candidatesTokenCount);
  return {
    characters,
    ...(read !== null && { prompt_tokens: read }),
    ...(spoken !== null && { completion_tokens: spoken }),
    audio_output_tokens: spoken ?? tokens,
  };
}

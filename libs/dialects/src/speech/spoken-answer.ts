import type { UnitUsage } from '@gateway/contracts';
import { parseUpstreamObject } from '../body/upstream-json.js';
import { filled, objectOf, type JsonObject } from '../body/json-object.js';
import type { Answer, AnswerFailure, Piece } from '../translation/translation.js';
import { badAnswer, failurePiece } from '../translation/whole-answer.js';
import type { SpeechRequest } from './speech-dialect.js';

/** Media types of the formats that a caller names. */
const TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
};

export function typeOf(format: string): string {
  return TYPES[format] ?? 'application/octet-stream';
}

/** The speech of an upstream, or the reason why there is none. */
export type Spoken =
  { audio: Uint8Array; usage: UnitUsage; deliveredBytes?: number } | { failure: AnswerFailure };

/** An answer in JSON, read whole, of which the caller gets the bytes of audio in a format. */
export function spokenAnswer(format: string, read: (answer: JsonObject) => Spoken): Answer {
  return {
    isWhole: true,
    headers: { 'content-type': typeOf(format) },
    push: (bytes) => [pieceOf(bytes, read)],
    end: () => [],
    fail: () => null,
  };
}

function pieceOf(bytes: Uint8Array, read: (answer: JsonObject) => Spoken): Piece {
  const answer = parseUpstreamObject(bytes);
  if (answer === null) return badAnswer('the answer is no JSON.');
  const spoken = read(answer);
  if ('failure' in spoken) return failurePiece(spoken.failure);
  if (spoken.audio.byteLength === 0) return badAnswer('the answer holds no audio.');
  const { audio, ...counts } = spoken;
  return { kind: 'end', out: audio, ...counts, finishSeen: true };
}

/** The name of a voice, or the id of one. */
export function voiceOf({ body }: SpeechRequest): string {
  const { voice } = body.value;
  return filled(voice) ?? filled(objectOf(voice).id) ?? '';
}

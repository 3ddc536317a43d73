import { textOf, wholeCount } from '../../body/json-object.js';
import { jsonBody } from '../../translation/upstream-body.js';
import type { AnswerHead } from '../../translation/translation.js';
import type { SpeechDialect, SpeechRequest } from '../speech-dialect.js';
import { beyond, ownVoice, speedOf } from '../speech-limits.js';
import { spokenBytes } from '../spoken-bytes.js';

/** Every one of the caller's: what stands in the query for it. Raw samples have OpenAI's rate. */
const FORMATS = new Map<string, Record<string, string>>([
  ['mp3', { encoding: 'mp3' }],
  ['opus', { encoding: 'opus', container: 'ogg' }],
  ['aac', { encoding: 'aac' }],
  ['flac', { encoding: 'flac' }],
  ['wav', { encoding: 'linear16', container: 'wav', sample_rate: '24000' }],
  ['pcm', { encoding: 'linear16', container: 'none', sample_rate: '24000' }],
]);

/** OpenAI's voices as those of Aura that are most like them. */
const VOICES = new Map([
  ['alloy', 'thalia'],
  ['ash', 'apollo'],
  ['ballad', 'draco'],
  ['cedar', 'orion'],
  ['coral', 'aurora'],
  ['echo', 'arcas'],
  ['fable', 'pandora'],
  ['marin', 'helena'],
  ['nova', 'andromeda'],
  ['onyx', 'zeus'],
  ['sage', 'athena'],
  ['shimmer', 'luna'],
  ['verse', 'aries'],
]);
const VOICE = /^[a-z]{1,32}(?:-[a-z]{2})?$/;
const CHARACTERS_MAX = 2_000;

/** Deepgram's speech: a voice in a language is its model, and the query says everything but the text. */
export const dialect: SpeechDialect = {
  name: 'deepgram-speech',
  takes: ['speed'],
  unsupported: (request, { upstreamModel }) =>
    beyond(request, {
      formats: FORMATS,
      voice: modelIn(request, upstreamModel),
      speeds: [0.7, 1.5],
      charactersMax: CHARACTERS_MAX,
    }),
  encode: (request, { upstreamModel }) => {
    const model = modelIn(request, upstreamModel) ?? '';
    const query = new URLSearchParams({ model, ...FORMATS.get(request.format) });
    const speed = speedOf(request);
    if (speed !== null) query.set('speed', String(speed));
    return jsonBody(`/speak?${query.toString()}`, 'audio/*', { text: request.body.value.input });
  },
  begin: (head, request) => spokenBytes(head, request, charactersIn(head, request)),
};

/**
 * `thalia`, `thalia-en` and `aura-2-thalia-en` are one voice. The family is always the route's: another one has a price
 * of its own.
 */
function modelIn(request: SpeechRequest, family: string): string | null {
  const voice = ownVoice(request, VOICES);
  const name = voice.startsWith(`${family}-`) ? voice.slice(family.length + 1) : voice;
  if (!VOICE.test(name)) return null;
  return `${family}-${name}${name.includes('-') ? '' : '-en'}`;
}

/** Its own count, where it can be one: no text has more characters than bytes. */
function charactersIn({ headers }: AnswerHead, { characters, body }: SpeechRequest): number {
  const counted = wholeCount(Number(headers?.['dg-char-count'] ?? 0)) ?? 0;
  return counted > 0 && counted <= Buffer.byteLength(textOf(body.value.input)) ? counted : characters;
}

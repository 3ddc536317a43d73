import { jsonBody } from '../../translation/upstream-body.js';
import type { SpeechDialect, SpeechRequest } from '../speech-dialect.js';
import { beyond, ownVoice, speedOf } from '../speech-limits.js';
import { spokenBytes } from '../spoken-bytes.js';

/** Its formats nearest to OpenAI's that every plan may use. It makes neither AAC nor FLAC. */
const FORMATS = new Map([
  ['mp3', 'mp3_44100_128'],
  ['opus', 'opus_48000_128'],
  ['wav', 'wav_24000'],
  ['pcm', 'pcm_24000'],
]);

/** OpenAI's voices as those of its default voices that are most like them. */
const VOICES = new Map([
  ['alloy', 'SAz9YHcvj6GT2YYXdXww'], // River
  ['ash', 'iP95p4xoKVk53GoZ742B'], // Chris
  ['ballad', 'JBFqnCBsd6RMkjVDRZzb'], // George
  ['cedar', 'pqHfZKP75CvOlQylNhV4'], // Bill
  ['coral', 'cgSgspJ2msm6clMCkdW9'], // Jessica
  ['echo', 'cjVigY5qzO86Huf0OWal'], // Eric
  ['fable', 'onwK4e9ZLuTAKqWW03F9'], // Daniel
  ['marin', 'XrExE9yKIg1WjnnlVkGX'], // Matilda
  ['nova', 'FGY2WhTYpPnrIDTdsKH5'], // Laura
  ['onyx', 'nPczCjzI2devNBz1zQrb'], // Brian
  ['sage', 'EXAVITQu4vr4xnSDxMaL'], // Sarah
  ['shimmer', 'Xb7hH8MSUJpSbSDYk0k2'], // Alice
  ['verse', 'TX3LPaxmHKxFdv7VOQHJ'], // Liam
]);
/** It becomes a part of the path, so nothing may stand in it that is more than a name. */
const VOICE_ID = /^[A-Za-z0-9]{1,64}$/;

/**
 * ElevenLabs' speech. It bills characters: what its answer reports in a header are credits, of which a model may take half
 * a one for a character.
 */
export const dialect: SpeechDialect = {
  name: 'elevenlabs-speech',
  takes: ['speed'],
  unsupported: (request) =>
    beyond(request, { formats: FORMATS, voice: voiceIn(request), speeds: [0.7, 1.2] }),
  encode: (request, { upstreamModel }) => {
    const voice = encodeURIComponent(voiceIn(request) ?? '');
    const speed = speedOf(request);
    return jsonBody(
      `/v1/text-to-speech/${voice}?output_format=${FORMATS.get(request.format) ?? ''}`,
      'audio/*',
      {
        ...{ text: request.body.value.input, model_id: upstreamModel },
        ...(speed !== null && { voice_settings: { speed } }),
      },
    );
  },
  begin: (head, request) => spokenBytes(head, request),
};

function voiceIn(request: SpeechRequest): string | null {
  const voice = ownVoice(request, VOICES);
  return VOICE_ID.test(voice) ? voice : null;
}

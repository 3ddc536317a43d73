import { jsonBody } from '../../translation/upstream-body.js';
import type { SpeechDialect, SpeechRequest } from '../speech-dialect.js';
import { beyond, ownVoice, speedOf } from '../speech-limits.js';
import { spokenBytes } from '../spoken-bytes.js';

/** It calls these as the caller does, and makes neither Opus nor AAC nor FLAC. */
const FORMATS = new Set(['mp3', 'wav', 'pcm']);
/** OpenAI's rate of raw samples, and its own default. */
const RATE = 24_000;

/** OpenAI's voices as those five that it has always had. */
const VOICES = new Map([
  ['alloy', 'eve'],
  ['ash', 'rex'],
  ['ballad', 'leo'],
  ['cedar', 'sal'],
  ['coral', 'ara'],
  ['echo', 'sal'],
  ['fable', 'leo'],
  ['marin', 'ara'],
  ['nova', 'eve'],
  ['onyx', 'leo'],
  ['sage', 'ara'],
  ['shimmer', 'eve'],
  ['verse', 'rex'],
]);
const VOICE_ID = /^[\w-]{1,64}$/;

/** xAI's speech: there is one model, so it is not named; the language is what the text is in. */
export const dialect: SpeechDialect = {
  name: 'xai-speech',
  takes: ['speed'],
  unsupported: (request) =>
    beyond(request, { formats: FORMATS, voice: voiceIn(request), speeds: [0.7, 1.5] }),
  encode: (request) => {
    const speed = speedOf(request);
    return jsonBody('/tts', 'audio/*', {
      ...{ text: request.body.value.input, voice_id: voiceIn(request), language: 'auto' },
      output_format: { codec: request.format, sample_rate: RATE },
      ...(speed !== null && { speed }),
    });
  },
  begin: (head, request) => spokenBytes(head, request),
};

function voiceIn(request: SpeechRequest): string | null {
  const voice = ownVoice(request, VOICES);
  return VOICE_ID.test(voice) ? voice : null;
}

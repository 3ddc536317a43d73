import { textOf } from '../../body/json-object.js';
import { Unsupported } from '../../translation/translation.js';
import { jsonBody, JSON_TYPE } from '../../translation/upstream-body.js';
import type { SpeechDialect } from '../speech-dialect.js';
import { spokenAnswer, voiceOf } from '../spoken-answer.js';

/** Its `pcm` has samples of 32-bit floats, where the caller's means 16-bit integers: passed on, it would be noise. */
const FORMATS = ['mp3', 'wav', 'flac', 'opus'];

/** Mistral's speech: OpenAI's path, its own word for the voice, and an answer of base64 in JSON. It bills characters. */
export const dialect: SpeechDialect = {
  name: 'mistral-speech',
  takes: [],
  unsupported: ({ format }) => (FORMATS.includes(format) ? null : new Unsupported('response_format')),
  encode: (request, { upstreamModel: model }) =>
    jsonBody('/audio/speech', JSON_TYPE, {
      ...{ model, input: request.body.value.input },
      ...{ voice_id: voiceOf(request), response_format: request.format },
    }),
  begin: (_head, { format, characters }) =>
    spokenAnswer(format, ({ audio_data }) => ({
      audio: Buffer.from(textOf(audio_data), 'base64'),
      usage: { characters, prompt_tokens: 0, completion_tokens: 0, audio_output_tokens: 0 },
    })),
};

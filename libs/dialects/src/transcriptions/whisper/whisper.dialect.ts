import { Unsupported } from '../../translation/translation.js';
import { beginTranscript, encodeForm } from '../openai-transcript.js';
import type { FormTranscriptions } from '../transcriptions-dialect.js';

/** Whisper over OpenAI's form: translates into English, knows the times of words, does not stream. */
export const dialect: FormTranscriptions = {
  name: 'whisper',
  unsupported: ({ stream, format }) => {
    if (stream) return new Unsupported('stream');
    return format === 'diarized_json' ? new Unsupported('response_format') : null;
  },
  encode: encodeForm,
  begin: beginTranscript,
};

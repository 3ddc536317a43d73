import { Unsupported } from '../../translation/translation.js';
import { beginTranscript, encodeForm } from '../openai-transcript.js';
import type { FormTranscriptions } from '../transcriptions-dialect.js';

/** Formats of models after Whisper; they have no times of words, and write no English of another language. */
const FORMATS = ['json', 'text', 'diarized_json'];

/** OpenAI's transcriptions. */
export const dialect: FormTranscriptions = {
  name: 'transcriptions',
  unsupported: ({ task, format }) => {
    if (task === 'translate') return new Unsupported(null);
    return FORMATS.includes(format) ? null : new Unsupported('response_format');
  },
  encode: encodeForm,
  begin: beginTranscript,
};

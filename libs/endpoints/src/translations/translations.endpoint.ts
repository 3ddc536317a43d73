import { LazySchema, type TranscriptionRequest } from '@gateway/dialects';
import { AUDIO_FIELDS, AUDIO_FILE, readAudioForm, translateAudio } from '../audio-form/read-audio-form.js';
import type { Endpoint } from '../endpoint.js';

const SCHEMA = {
  type: 'object',
  required: ['model'],
  properties: {
    ...AUDIO_FIELDS,
    model: { type: 'string', minLength: 1 },
    response_format: { enum: ['json', 'text', 'srt', 'verbose_json', 'vtt'] },
  },
};
const schema = new LazySchema(SCHEMA, { strict: false });

/** POST /v1/audio/translations. */
export const endpoint: Endpoint<TranscriptionRequest> = {
  paths: ['/audio/translations'],
  permission: 'inference:write',
  idPrefix: 'translation',
  docs: {
    summary: 'OpenAI translation of audio',
    schemaName: 'AudioTranslationRequest',
    schema: { ...SCHEMA, required: ['file', 'model'], properties: { ...AUDIO_FILE, ...SCHEMA.properties } },
    body: 'multipart/form-data',
    answers: ['application/json', 'text/plain'],
    description:
      'Writes a recording of any language down in English; 422 for a model that does not translate.',
  },
  load: () => schema.load(),
  read: (body) => readAudioForm(body, schema, 'translate'),
  translate: translateAudio,
};

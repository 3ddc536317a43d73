import { LazySchema, type TranscriptionRequest } from '@gateway/dialects';
import { AUDIO_FIELDS, AUDIO_FILE, readAudioForm, translateAudio } from '../audio-form/read-audio-form.js';
import type { Endpoint } from '../endpoint.js';

const texts = { type: 'array', items: { type: 'string', maxLength: 1_000 }, maxItems: 32 };
const SCHEMA = {
  type: 'object',
  properties: {
    ...AUDIO_FIELDS,
    language: { type: 'string', pattern: '^[A-Za-z]{2,3}([-_][A-Za-z0-9]+)*$' },
    response_format: { enum: ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] },
    'timestamp_granularities[]': { type: 'array', items: { enum: ['word', 'segment'] }, maxItems: 2 },
    'include[]': { type: 'array', items: { enum: ['logprobs'] }, maxItems: 1 },
    'languages[]': texts,
    'keywords[]': texts,
    'known_speaker_names[]': { ...texts, maxItems: 4 },
    'known_speaker_references[]': { type: 'array', items: { type: 'string' }, maxItems: 4 },
    chunking_strategy: { type: 'string', maxLength: 1_000 },
    stream: { enum: ['true', 'false'] },
  },
};
const schema = new LazySchema(SCHEMA, { strict: false });

/** POST /v1/audio/transcriptions. */
export const endpoint: Endpoint<TranscriptionRequest> = {
  paths: ['/audio/transcriptions'],
  permission: 'inference:write',
  idPrefix: 'transcription',
  docs: {
    summary: 'OpenAI transcription',
    schemaName: 'TranscriptionRequest',
    schema: { ...SCHEMA, required: ['file'], properties: { ...AUDIO_FILE, ...SCHEMA.properties } },
    body: 'multipart/form-data',
    answers: ['application/json', 'text/plain', 'text/event-stream'],
    description:
      'Writes a recording down in its own language. The body is multipart/form-data with one file of at most 25 MiB.',
  },
  events: {
    keepAlive: ': keep-alive\n\n',
    failure: (error) => `data: ${JSON.stringify({ type: 'error', error: { message: error.message } })}\n\n`,
  },
  load: () => schema.load(),
  read: (body) => readAudioForm(body, schema, 'transcribe'),
  translate: translateAudio,
};

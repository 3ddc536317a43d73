import { filled, objectOf } from '../../body/json-object.js';
import { formBody } from '../../body/multipart.js';
import { Unsupported } from '../../translation/translation.js';
import { JSON_TYPE } from '../../translation/upstream-body.js';
import { answerIn, fieldOf, fieldsOf, isDiarized, needsTimes, onlyTranscribes, textIn } from '../fields.js';
import { secondsOf, spokenIn } from '../spoken.js';
import type { OwnTranscriptions, TranscriptionRequest } from '../transcriptions-dialect.js';

/** Mistral's Voxtral. It names a language or times, not both. */
export const dialect: OwnTranscriptions = {
  name: 'voxtral',
  takes: ['language', 'temperature', 'keywords[]', 'timestamp_granularities[]'],
  unsupported: (request) => {
    const translates = onlyTranscribes(request);
    if (translates !== null) return translates;
    if (needsTimes(request) && fieldOf(request, 'language') !== null) return new Unsupported('language');
    return wantsBoth(request) ? new Unsupported('timestamp_granularities[]') : null;
  },
  run: async (request, { upstreamModel }, calls) => {
    const { form, file } = request;
    const sent = { boundary: form.boundary, fields: fieldsFor(request, upstreamModel), files: [file] };
    const answer = answerIn(await calls.send(formBody('/audio/transcriptions', JSON_TYPE, sent)));
    const parts = spokenIn(answer.segments, ({ text }) => text).map((part) => ({
      ...part,
      text: part.text.trim(),
    }));
    const byWord = granularityOf(request) === 'word';
    return {
      text: textIn(answer.text),
      language: filled(answer.language),
      seconds: secondsOf(objectOf(answer.usage).prompt_audio_seconds),
      words: byWord ? parts : [],
      segments: byWord ? [] : parts,
    };
  },
};

function wantsBoth(request: TranscriptionRequest): boolean {
  return new Set(fieldsOf(request, 'timestamp_granularities[]')).size > 1;
}

function granularityOf(request: TranscriptionRequest): 'word' | 'segment' | null {
  if (!needsTimes(request)) return null;
  const isVerbose = request.format === 'verbose_json';
  return isVerbose && fieldsOf(request, 'timestamp_granularities[]').includes('word') ? 'word' : 'segment';
}

function fieldsFor(request: TranscriptionRequest, model: string): [string, string][] {
  const given = (name: string, value: string | null): [string, string][] =>
    value === null ? [] : [[name, value]];
  return [
    ['model', model],
    ...given('language', fieldOf(request, 'language')),
    ...given('temperature', fieldOf(request, 'temperature')),
    ...given('timestamp_granularities', granularityOf(request)),
    ...given('diarize', isDiarized(request) ? 'true' : null),
    // Neither spaces nor commas: a phrase is written with underscores.
    ...fieldsOf(request, 'keywords[]').map((word): [string, string] => [
      'context_bias',
      word.trim().replaceAll(/[\s,]+/g, '_'),
    ]),
  ];
}

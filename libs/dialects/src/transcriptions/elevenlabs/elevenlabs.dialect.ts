import { filled, objectsOf } from '../../body/json-object.js';
import { formBody } from '../../body/multipart.js';
import { JSON_TYPE } from '../../translation/upstream-body.js';
import { answerIn, fieldOf, fieldsOf, isDiarized, onlyTranscribes, textIn } from '../fields.js';
import { secondsOf, segmentsOf, spokenIn } from '../spoken.js';
import type { OwnTranscriptions, TranscriptionRequest } from '../transcriptions-dialect.js';

/** ElevenLabs' Scribe: every space and every noise is a word of its own. */
export const dialect: OwnTranscriptions = {
  name: 'elevenlabs-transcriptions',
  takes: ['language', 'temperature', 'keywords[]', 'timestamp_granularities[]'],
  unsupported: onlyTranscribes,
  run: async (request, { upstreamModel }, calls) => {
    const { form, file } = request;
    const sent = { boundary: form.boundary, fields: fieldsFor(request, upstreamModel), files: [file] };
    const answer = answerIn(await calls.send(formBody('/v1/speech-to-text', JSON_TYPE, sent)));
    const heard = objectsOf(answer.words).filter(({ type }) => type !== 'audio_event');
    const words = heard.filter(({ type }) => type !== 'spacing');
    return {
      text: textIn(answer.text),
      language: filled(answer.language_code) ?? fieldOf(request, 'language'),
      seconds: secondsOf(answer.audio_duration_secs),
      words: spokenIn(words, ({ text }) => text),
      segments: segmentsOf(
        spokenIn(heard, ({ text }) => text),
        '',
      ),
    };
  },
};

function fieldsFor(request: TranscriptionRequest, model: string): [string, string][] {
  const given = (name: string, value: string | null): [string, string][] =>
    value === null ? [] : [[name, value]];
  return [
    ['model_id', model],
    ['diarize', String(isDiarized(request))],
    ['tag_audio_events', 'false'],
    ['timestamps_granularity', 'word'],
    ...given('language_code', fieldOf(request, 'language')),
    ...given('temperature', fieldOf(request, 'temperature')),
    ...fieldsOf(request, 'keywords[]').map((word): [string, string] => ['keyterms', word]),
  ];
}

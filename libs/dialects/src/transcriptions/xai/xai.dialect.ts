import { filled } from '../../body/json-object.js';
import { formBody } from '../../body/multipart.js';
import { JSON_TYPE } from '../../translation/upstream-body.js';
import { answerIn, fieldOf, fieldsOf, isDiarized, onlyTranscribes, textIn } from '../fields.js';
import { secondsOf, segmentsOf, spokenIn } from '../spoken.js';
import type { OwnTranscriptions, TranscriptionRequest } from '../transcriptions-dialect.js';

/** xAI's transcriptions: a form whose recording stands last, as it requires. */
export const dialect: OwnTranscriptions = {
  name: 'xai-transcriptions',
  takes: ['language', 'keywords[]', 'timestamp_granularities[]'],
  unsupported: onlyTranscribes,
  run: async (request, { upstreamModel }, calls) => {
    const { form, file } = request;
    const sent = { boundary: form.boundary, fields: fieldsFor(request, upstreamModel), files: [file] };
    const answer = answerIn(await calls.send(formBody('/stt', JSON_TYPE, sent)));
    const words = spokenIn(answer.words, ({ text }) => text);
    return {
      text: textIn(answer.text),
      language: filled(answer.language) ?? fieldOf(request, 'language'),
      seconds: secondsOf(answer.duration),
      words,
      segments: segmentsOf(words, ' '),
    };
  },
};

function fieldsFor(request: TranscriptionRequest, model: string): [string, string][] {
  const fields: [string, string][] = [['model', model]];
  const language = fieldOf(request, 'language');
  // Numbers and currencies are written as such in a language alone that is named: without one it hears, and formats nothing.
  if (language !== null) fields.push(['language', language], ['format', 'true']);
  if (isDiarized(request)) fields.push(['diarize', 'true']);
  for (const word of fieldsOf(request, 'keywords[]')) fields.push(['keyterm', word]);
  return fields;
}

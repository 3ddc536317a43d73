import { filled, objectOf } from '../../body/json-object.js';
import { JSON_TYPE } from '../../translation/upstream-body.js';
import { answerIn, fieldOf, fieldsOf, firstOf, isDiarized, onlyTranscribes, textIn } from '../fields.js';
import { secondsOf, segmentsOf, spokenIn } from '../spoken.js';
import type { OwnTranscriptions, TranscriptionRequest } from '../transcriptions-dialect.js';

/** Deepgram: the recording is the body, everything else stands in the query. */
export const dialect: OwnTranscriptions = {
  name: 'deepgram',
  takes: ['language', 'keywords[]', 'timestamp_granularities[]'],
  unsupported: onlyTranscribes,
  run: async (request, { upstreamModel }, calls) => {
    const { bytes, contentType } = request.file;
    const reply = await calls.send({
      path: `/listen?${queryOf(request, upstreamModel)}`,
      contentType: contentType || 'application/octet-stream',
      accept: JSON_TYPE,
      pieces: [bytes],
      byteLength: bytes.byteLength,
    });
    const { metadata, results } = answerIn(reply);
    const channel = firstOf(objectOf(results).channels);
    const { transcript, words: heard } = firstOf(channel.alternatives);
    const words = spokenIn(heard, ({ punctuated_word: punctuated, word }) => filled(punctuated) ?? word);
    return {
      text: textIn(transcript),
      language: filled(channel.detected_language) ?? fieldOf(request, 'language'),
      seconds: secondsOf(objectOf(metadata).duration),
      words,
      segments: segmentsOf(words, ' '),
    };
  },
};

function queryOf(request: TranscriptionRequest, model: string): string {
  const query = new URLSearchParams({ model, smart_format: 'true' });
  const language = fieldOf(request, 'language');
  if (language === null) query.set('detect_language', 'true');
  else query.set('language', language);
  if (isDiarized(request)) query.set('diarize', 'true');
  for (const word of fieldsOf(request, 'keywords[]')) query.append('keyterm', word);
  return query.toString();
}

import { filled, textOf, type JsonObject } from '../../body/json-object.js';
import { badReply, failedReply } from '../../translation/exchange.js';
import { jsonBody, JSON_TYPE, lookAtPath } from '../../translation/upstream-body.js';
import { polled } from '../../tasks/polled.js';
import { answerIn, fieldOf, fieldsOf, isDiarized, onlyTranscribes, textIn } from '../fields.js';
import { secondsOf, segmentsOf, spokenIn } from '../spoken.js';
import type { OwnTranscriptions, TranscriptionRequest } from '../transcriptions-dialect.js';

const POLL_MS = 1_000;

/** AssemblyAI: the recording is left there, a task written down, and the task looked at until it has ended. */
export const dialect: OwnTranscriptions = {
  name: 'assemblyai',
  takes: ['language', 'temperature', 'prompt', 'keywords[]', 'timestamp_granularities[]'],
  unsupported: onlyTranscribes,
  run: async (request, { upstreamModel }, calls) => {
    const { bytes } = request.file;
    const upload = await calls.send({
      path: '/v2/upload',
      contentType: 'application/octet-stream',
      accept: JSON_TYPE,
      pieces: [bytes],
      byteLength: bytes.byteLength,
    });
    const url = filled(answerIn(upload).upload_url);
    if (url === null) throw badReply('the answer names no upload.');
    const task = answerIn(
      await calls.send(jsonBody('/v2/transcript', JSON_TYPE, bodyOf(request, upstreamModel, url))),
    );
    const id = textOf(task.id);
    if (!/^[\w-]{1,200}$/.test(id)) throw badReply('the answer names no task.');
    await calls.note(id);
    const look = lookAtPath(`/v2/transcript/${id}`);
    const answer = await polled(calls, { everyMs: POLL_MS, look, read: finishedIn });
    const words = spokenIn(answer.words, ({ text }) => text, 1_000);
    return {
      text: textIn(answer.text),
      language: filled(answer.language_code),
      seconds: secondsOf(answer.audio_duration),
      words,
      segments: segmentsOf(words, ' '),
    };
  },
};

function bodyOf(request: TranscriptionRequest, model: string, url: string): JsonObject {
  const language = fieldOf(request, 'language');
  const temperature = fieldOf(request, 'temperature');
  const prompt = fieldOf(request, 'prompt');
  const words = fieldsOf(request, 'keywords[]');
  return {
    audio_url: url,
    speech_models: [model],
    ...(language === null ? { language_detection: true } : { language_code: language }),
    ...(isDiarized(request) && { speaker_labels: true }),
    ...(temperature !== null && { temperature: Number(temperature) }),
    ...(prompt !== null && { prompt }),
    ...(words.length > 0 && { keyterms_prompt: words }),
  };
}

/** Null: it is still at work. */
function finishedIn(answer: JsonObject): JsonObject | null {
  if (answer.status === 'completed') return answer;
  if (answer.status !== 'error') return null;
  const message = textOf(answer.error);
  // A recording that cannot be read or holds no speech: no other attempt would hear more.
  const isTheirs = /download|decod|duration|file|audio|language|speech/i.test(message);
  throw isTheirs
    ? failedReply('invalid_recording', message, 400)
    : failedReply('server_error', message || 'the transcription failed.', 500);
}

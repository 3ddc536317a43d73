import { openAiError } from '../errors-openai.js';
import { JSON_TYPE } from '../reply.js';
import type { SimEndpoint } from '../sim-endpoint.js';

/** Bytes that are taken for one second: 16 kbit/s. */
const BYTES_PER_SECOND = 2_000;

/**
 * Deepgram's transcriptions: says of each recording how long it is; where speakers are asked for, the second sentence
 * has its own.
 */
export const simulated: SimEndpoint = {
  path: '/listen',
  answer: ({ body, path }) => {
    if (body.byteLength === 0)
      return openAiError(400, 'invalid_request_error', null, 'No recording.', 'file');
    const query = new URLSearchParams(path.slice(path.indexOf('?') + 1));
    const sentences = [`A recording of ${body.byteLength} bytes.`, 'It ends here.'];
    const isDiarized = query.get('diarize') === 'true';
    let at = 0;
    const words = sentences.flatMap((sentence, speaker) =>
      sentence.split(' ').map((text) => {
        at += 1;
        const word = text.toLowerCase().replace(/\.$/, '');
        const spoken = { word, punctuated_word: text, start: at - 1, end: at - 0.5, confidence: 0.9 };
        return isDiarized ? { ...spoken, speaker } : spoken;
      }),
    );
    const alternative = { transcript: sentences.join(' '), confidence: 0.9, words };
    const duration = Math.max(1, Math.ceil(body.byteLength / BYTES_PER_SECOND));
    const answer = {
      metadata: { request_id: 'listen-simulated', duration, channels: 1 },
      results: {
        channels: [{ detected_language: query.get('language') ?? 'en', alternatives: [alternative] }],
      },
    };
    return { contentType: JSON_TYPE, body: JSON.stringify(answer) };
  },
};

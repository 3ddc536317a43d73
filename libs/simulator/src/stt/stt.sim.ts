import { JSON_TYPE } from '../reply.js';
import type { SimEndpoint } from '../sim-endpoint.js';
import { recordingIn } from '../transcriptions/heard.js';

/** xAI's transcriptions: a word each second; where speakers are asked for, the last word has its own. */
export const simulated: SimEndpoint = {
  path: '/stt',
  answer: (request) => {
    const recording = recordingIn(request);
    if ('status' in recording) return recording;
    const { fieldOf, bytes, seconds } = recording;
    const text = `A recording of ${bytes} bytes.`;
    const said = text.split(' ');
    const isDiarized = fieldOf('diarize') === 'true';
    const words = said.map((word, at) => {
      const spoken = { text: word, start: at, end: at + 0.5 };
      return isDiarized ? { ...spoken, speaker: at === said.length - 1 ? 1 : 0 } : spoken;
    });
    const answer = { text, language: fieldOf('language') ?? 'en', duration: seconds, words };
    return { contentType: JSON_TYPE, body: JSON.stringify(answer) };
  },
};

import type { SimEndpoint } from '../sim-endpoint.js';
import { heard } from '../transcriptions/heard.js';

/** OpenAI's translations of audio into English. */
export const simulated: SimEndpoint = {
  path: '/audio/translations',
  answer: (request) => heard(request, (bytes) => `In English: a recording of ${bytes} bytes.`),
};

import type { SimEndpoint } from '../sim-endpoint.js';
import { heard } from './heard.js';

/** OpenAI's transcriptions: says of each recording how long it is. */
export const simulated: SimEndpoint = {
  path: '/audio/transcriptions',
  answer: (request) => heard(request, (bytes) => `A recording of ${bytes} bytes.`),
};

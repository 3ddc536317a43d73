import { JSON_TYPE } from '../reply.js';
import type { SimEndpoint } from '../sim-endpoint.js';

/** The state of a task. */
export const simulated: SimEndpoint = {
  path: '-simulated',
  method: 'GET',
  answer: ({ path }) => {
    const id = path.slice(path.lastIndexOf('/') + 1);
    return { contentType: JSON_TYPE, body: JSON.stringify({ id, status: 'completed', unsigned_urls: [] }) };
  },
};

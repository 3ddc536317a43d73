import type { SimEndpoint } from '../sim-endpoint.js';
import { emptyMp4 } from './empty-mp4.js';

/** The file of a task. */
export const simulated: SimEndpoint = {
  path: '-simulated/content',
  method: 'GET',
  isOpen: true,
  answer: ({ path }) => {
    const seconds = Number(/-(\d+)-simulated/.exec(path)?.[1] ?? 8);
    return { contentType: 'video/mp4', body: emptyMp4(seconds) };
  },
};

import { createRequire } from 'node:module';
import { Imaging, type Sharp } from './imaging.js';

/**
 * The imaging library, which is native code of its own for each platform; null where there is none for this one. Loading
 * it takes memory, so it is done when the first mask comes.
 */
export function loadImaging(
  load: (name: string) => unknown = createRequire(import.meta.url),
): Imaging | null {
  try {
    const sharp = load('sharp') as Sharp;
    sharp.concurrency(1);
    sharp.cache(false);
    return new Imaging(sharp);
  } catch {
    return null;
  }
}

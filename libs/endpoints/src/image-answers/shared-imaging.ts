import { loadImaging, type Imaging } from '@gateway/imaging';

let loaded: Imaging | null | undefined;

/** One library for all requests, loaded with the first mask. */
export function sharedImaging(): Imaging | null {
  if (loaded === undefined) loaded = loadImaging();
  return loaded;
}

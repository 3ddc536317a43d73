import { JSON_TYPE, type UpstreamBody } from '../translation/upstream-body.js';

/** A read below the provider's API root. */
export function getBody(path: string, accept: string = JSON_TYPE): UpstreamBody {
  return { method: 'GET', path, contentType: '', accept, pieces: [], byteLength: 0 };
}

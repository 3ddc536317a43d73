import { UpstreamError } from '@gateway/contracts';

/** A path as providers write them: `messages[0].content`, `input.2.id`. */
const PATH = /^([A-Za-z_]\w{0,39})(?:\.\w{1,40}|\[\d{1,6}\]){0,12}$/;
/** Places that are looked at: a body may say a name a million times. */
const PLACES_MAX = 1_000;

/**
 * The failure with the parameter that its provider names, where the caller's JSON has a member of that name: what we send may
 * have others. Of a translated request the path is the provider's, so its first member alone is kept.
 */
export function withOwnParam(error: UpstreamError, sent: Uint8Array, isTranslated: boolean): UpstreamError {
  const { param, ...others } = error.options;
  if (param === undefined) return error;
  const root = PATH.exec(param)?.[1];
  if (root === undefined || !hasMember(sent, root)) return new UpstreamError(others);
  return isTranslated ? new UpstreamError({ ...others, param: root }) : error;
}

/**
 * Returns true if the text has the member at any depth; a text cannot hold quotes that are not escaped. The body is not
 * decoded again for it.
 */
function hasMember(sent: Uint8Array, name: string): boolean {
  const bytes = Buffer.from(sent.buffer, sent.byteOffset, sent.byteLength);
  const quoted = `"${name}"`;
  let at = bytes.indexOf(quoted);
  for (let places = 0; at >= 0 && places < PLACES_MAX; places += 1) {
    const next = bytes.toString('latin1', at + quoted.length, at + quoted.length + 16);
    if (/^\s*:/.test(next)) return true;
    at = bytes.indexOf(quoted, at + 1);
  }
  return false;
}

import { isObject, rememberSpelling, type JsonObject } from '@gateway/json-body';

/** Depth beyond which JSON.stringify fails some thousand levels later. No answer of a provider comes near. */
export const UPSTREAM_DEPTH = 512;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses the JSON of a provider. A text too short to be too deep is not looked at: nearly every frame of a stream.
 * @throws SyntaxError where it is no JSON, or nested deeper than can be written again.
 */
export function parseUpstreamJson(text: string): unknown {
  if (text.length > 2 * UPSTREAM_DEPTH && isTooDeep(text))
    throw new SyntaxError(`nesting is deeper than ${UPSTREAM_DEPTH}`);
  return JSON.parse(text);
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > UPSTREAM_DEPTH) return true;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return false;
}

/**
 * Returns the end of the string that begins here; most of an answer is strings, which the search passes over quickly.
 */
function endOfString(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
}

/** The same, undefined where it cannot be parsed: the caller reports what is wrong with it. */
export function jsonOf(text: string): unknown {
  try {
    return parseUpstreamJson(text);
  } catch {
    return undefined;
  }
}

/** The same, to be written again: numbers, the order of members and repeated names stay as the text has them. */
export function spelledJsonOf(text: string): unknown {
  const value = jsonOf(text);
  rememberSpelling(value, text);
  return value;
}

/** The JSON object that a provider answered; null where the text is none. */
export function parseUpstreamText(text: string): JsonObject | null {
  const value = jsonOf(text);
  return isObject(value) ? value : null;
}

/** The same of its bytes. */
export function parseUpstreamObject(bytes: Uint8Array): JsonObject | null {
  return parseUpstreamText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
}

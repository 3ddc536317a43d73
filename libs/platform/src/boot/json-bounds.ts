import { ApiError, type ErrorDetail } from '@gateway/contracts';

/** Bounds of a JSON body (reliability 5.5). JSON.parse has none: 16 MB of brackets block it for seconds. */
export const JSON_BOUNDS = { depth: 64, keys: 100_000, items: 100_000 } as const;

/** An escaped letter of `__proto__`: the name could be spelled with it. */
const ESCAPED_PROTO = /\\u00(?:5f|6f|7[024])/i;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/** The name of the bound that the text breaks, or null. Counts over the bytes, before anything is parsed. */
export function brokenJsonBound(bytes: Uint8Array): keyof typeof JSON_BOUNDS | null {
  const commas = new Uint32Array(JSON_BOUNDS.depth + 1);
  const isArray = new Uint8Array(JSON_BOUNDS.depth + 1);
  let depth = 0;
  let keys = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    switch (bytes[index]) {
      case QUOTE:
        index = endOfString(bytes, index);
        break;
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        depth += 1;
        if (depth > JSON_BOUNDS.depth) return 'depth';
        commas[depth] = 0;
        isArray[depth] = bytes[index] === OPEN_ARRAY ? 1 : 0;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        // Text that closes more than it opened is for the parser to refuse.
        if (depth > 0) depth -= 1;
        break;
      case COMMA:
        commas[depth] += 1;
        if (isArray[depth] === 1 && commas[depth] >= JSON_BOUNDS.items) return 'items';
        break;
      case COLON:
        keys += 1;
        if (keys > JSON_BOUNDS.keys) return 'keys';
        break;
    }
  }
  return null;
}

/** Index of the closing quote; the native search makes 32 MB of base64 cost milliseconds. */
function endOfString(bytes: Uint8Array, start: number): number {
  let index = start;
  for (;;) {
    index = bytes.indexOf(QUOTE, index + 1);
    if (index === -1) return bytes.length;
    let slashes = 0;
    while (bytes[index - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return index;
  }
}

/**
 * Parses a JSON body within the bounds. `__proto__` members are refused.
 * Throws ApiError `validation_error` with loc ["body"]: malformed and unbounded bodies are 422 everywhere.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  const bound = brokenJsonBound(bytes);
  if (bound !== null) {
    const what = { depth: 'levels of nesting', keys: 'members', items: 'items in one array' }[bound];
    throw bodyFault('json_too_large', `The JSON body has more than ${JSON_BOUNDS[bound]} ${what}.`);
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  let parsed: unknown;
  try {
    parsed =
      text.includes('__proto__') || ESCAPED_PROTO.test(text) ? parseWithoutProto(text) : JSON.parse(text);
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    throw bodyFault('json_invalid', 'The body is not valid JSON.', cause);
  }
  return parsed;
}

function parseWithoutProto(text: string): unknown {
  return JSON.parse(text, (key, value: unknown) => {
    if (key === '__proto__') throw bodyFault('json_invalid', 'A member named __proto__ is not accepted.');
    return value;
  });
}

function bodyFault(type: string, msg: string, cause?: unknown): ApiError {
  const detail: ErrorDetail = { type, loc: ['body'], msg };
  return new ApiError('validation_error', { message: msg, details: [detail], cause });
}

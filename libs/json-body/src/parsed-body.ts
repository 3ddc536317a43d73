import type { ErrorDetail, DetailType } from '@gateway/contracts';

/** Bounds of a JSON body, counted over its bytes before JSON.parse, which has none. */
export const JSON_BOUNDS = { depth: 64, keys: 100_000, itemsPerArray: 100_000 } as const;

/** The place of one top-level member in the bytes. */
interface Member {
  key: string;
  /** Offset of the key's opening quote. */
  start: number;
  valueStart: number;
  /** One past the value's last byte. */
  end: number;
}

/** A JSON object as it came: its value for reading, its bytes and member offsets for passing it on. */
export interface ParsedBody {
  readonly value: Record<string, unknown>;
  readonly bytes: Uint8Array;
  readonly members: readonly Member[];
}

/** The body is not an acceptable JSON object; the front makes its own error of the details. */
export class BodyFault {
  constructor(readonly detail: ErrorDetail) {}
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const UNDERSCORE = 0x5f;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

const PROTO = '"__proto__"';
/** Length with every character of it as \\uXXXX. */
const PROTO_ESCAPED_LENGTH = 2 + 9 * 6;

/** One past the closing quote of the string that opens at `start`, or -1. Native search: base64 of megabytes costs little. */
function stringEnd(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    at = bytes.indexOf(QUOTE, at + 1);
    if (at < 0) return -1;
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
}

class Scanner {
  readonly members: Member[] = [];
  private readonly isArray: boolean[] = [];
  private readonly items: number[] = [];
  private keys = 0;
  private open: Member | null = null;
  private lastString = { start: 0, end: 0 };
  private lastValueEnd = 0;

  constructor(private readonly bytes: Buffer) {}

  scan(): BodyFault | null {
    const { bytes } = this;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte <= 0x20) continue;
      if (byte === QUOTE) {
        const end = stringEnd(bytes, at);
        if (end < 0) return fault('json_invalid', 'a string is not closed');
        this.lastString = { start: at, end };
        at = end - 1;
      } else {
        const found = this.token(byte, at);
        if (found) return found;
      }
      if (byte !== COMMA && byte !== CLOSE_BRACE) this.lastValueEnd = at + 1;
    }
    return null;
  }

  private token(byte: number, at: number): BodyFault | null {
    switch (byte) {
      case OPEN_BRACE:
      case OPEN_BRACKET:
        if (this.isArray.length >= JSON_BOUNDS.depth)
          return fault('json_too_deep', `nesting is deeper than ${JSON_BOUNDS.depth}`);
        this.isArray.push(byte === OPEN_BRACKET);
        this.items.push(0);
        return null;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (this.isArray.length === 1) this.closeMember();
        this.isArray.pop();
        this.items.pop();
        if (byte === CLOSE_BRACE) this.lastValueEnd = at + 1;
        return null;
      case COLON:
        return this.key();
      case COMMA:
        return this.comma();
      default:
        return null;
    }
  }

  private key(): BodyFault | null {
    this.keys += 1;
    if (this.keys > JSON_BOUNDS.keys)
      return fault('json_too_many_keys', `more than ${JSON_BOUNDS.keys} keys`);
    const { start, end } = this.lastString;
    const first = this.bytes[start + 1];
    if ((first === UNDERSCORE || first === BACKSLASH) && this.isProto(start, end))
      return fault('json_forbidden_key', 'the key __proto__ is not allowed');
    if (this.isArray.length === 1 && this.isArray[0] === false) {
      this.open = { key: '', start, valueStart: end, end: 0 };
    }
    return null;
  }

  /** Returns true also where some of its characters are escaped: JSON.parse makes the same key of them. */
  private isProto(start: number, end: number): boolean {
    if (end - start < PROTO.length || end - start > PROTO_ESCAPED_LENGTH) return false;
    const text = this.bytes.toString('latin1', start, end);
    return text === PROTO || (text.includes('\\') && safeParse(text) === '__proto__');
  }

  private comma(): BodyFault | null {
    const depth = this.isArray.length - 1;
    if (depth < 0) return null;
    if (this.isArray[depth]) {
      this.items[depth] += 1;
      if (this.items[depth] >= JSON_BOUNDS.itemsPerArray)
        return fault('json_too_many_items', `more than ${JSON_BOUNDS.itemsPerArray} items in an array`);
    }
    if (depth === 0) this.closeMember();
    return null;
  }

  private closeMember(): void {
    const { open, bytes } = this;
    if (!open) return;
    const keyEnd = open.valueStart;
    const raw = bytes.toString('utf8', open.start, keyEnd);
    open.key = raw.includes('\\') ? String(safeParse(raw)) : raw.slice(1, -1);
    let valueStart = bytes.indexOf(COLON, keyEnd) + 1;
    while (bytes[valueStart] <= 0x20) valueStart += 1;
    open.valueStart = valueStart;
    open.end = this.lastValueEnd;
    this.members.push(open);
    this.open = null;
  }
}

function safeParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return '';
  }
}

function fault(type: DetailType, msg: string): BodyFault {
  return new BodyFault({ type, loc: ['body'], msg });
}

/**
 * Parses a request body within JSON_BOUNDS. Answers a BodyFault where it is not UTF-8, not JSON, not an object or
 * beyond a bound; never throws.
 */
export function parseBody(body: Uint8Array): ParsedBody | BodyFault {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const scanner = new Scanner(bytes);
  const bound = scanner.scan();
  if (bound) return bound;
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(bytes));
  } catch (error) {
    return fault(
      'json_invalid',
      error instanceof SyntaxError ? 'the body is not valid JSON' : 'the body is not valid UTF-8',
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return fault('json_not_object', 'the body must be a JSON object');
  return { value: value as Record<string, unknown>, bytes, members: scanner.members };
}

const decoder = new TextDecoder('utf-8', { fatal: true });

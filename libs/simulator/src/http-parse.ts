/** A whole request as it arrived; header names are lower case, a repeated header is joined by a comma. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** HTTP/1.0 callers get no chunked body and no kept connection. */
  readonly http10: boolean;
  readonly keepAlive: boolean;
}

export type Parsed =
  | { kind: 'request'; request: WireRequest; end: number }
  | { kind: 'more'; need: number; expectsContinue: boolean }
  | { kind: 'bad'; status: number };

const MAX_HEAD_BYTES = 64 * 1024;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const EMPTY = Buffer.alloc(0);
const HEAD_END = Buffer.from('\r\n\r\n');

/** Reads one request from `bytes` at `start`; `need` is the least length of `bytes` worth another try. */
export function parseRequest(bytes: Buffer, start: number): Parsed {
  const headEnd = bytes.indexOf(HEAD_END, start);
  if (headEnd < 0) {
    return bytes.length - start > MAX_HEAD_BYTES
      ? { kind: 'bad', status: 431 }
      : { kind: 'more', need: bytes.length + 1, expectsContinue: false };
  }
  const head = parseHead(bytes.toString('latin1', start, headEnd));
  if (head === undefined) return { kind: 'bad', status: 400 };
  const bodyStart = headEnd + 4;
  if (head.headers['transfer-encoding'] !== undefined) return withChunkedBody(bytes, bodyStart, head);
  const declared = head.headers['content-length'];
  if (declared === undefined) return { kind: 'request', request: { ...head, body: EMPTY }, end: bodyStart };
  const length = Number(declared);
  if (!Number.isInteger(length) || length < 0) return { kind: 'bad', status: 400 };
  if (length > MAX_BODY_BYTES) return { kind: 'bad', status: 413 };
  const end = bodyStart + length;
  if (bytes.length < end) return { kind: 'more', need: end, expectsContinue: wantsContinue(head) };
  return { kind: 'request', request: { ...head, body: bytes.subarray(bodyStart, end) }, end };
}

type Head = Omit<WireRequest, 'body'>;

function parseHead(text: string): Head | undefined {
  let lineEnd = text.indexOf('\r\n');
  if (lineEnd < 0) lineEnd = text.length;
  const firstSpace = text.indexOf(' ');
  const secondSpace = text.indexOf(' ', firstSpace + 1);
  if (firstSpace < 1 || secondSpace < 0 || secondSpace > lineEnd) return undefined;
  const version = text.slice(secondSpace + 1, lineEnd);
  if (version !== 'HTTP/1.1' && version !== 'HTTP/1.0') return undefined;
  const headers: Record<string, string> = {};
  let at = lineEnd + 2;
  while (at < text.length) {
    let end = text.indexOf('\r\n', at);
    if (end < 0) end = text.length;
    const colon = text.indexOf(':', at);
    if (colon < 0 || colon > end) return undefined;
    const name = text.slice(at, colon).toLowerCase();
    const value = text.slice(colon + 1, end).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
    at = end + 2;
  }
  const http10 = version === 'HTTP/1.0';
  const connection = headers.connection;
  const keepAlive = connection === undefined ? !http10 : /keep-alive/i.test(connection);
  return {
    method: text.slice(0, firstSpace),
    path: text.slice(firstSpace + 1, secondSpace),
    headers,
    http10,
    keepAlive: http10 ? keepAlive : connection === undefined || !/close/i.test(connection),
  };
}

function wantsContinue(head: Head): boolean {
  return head.headers.expect?.toLowerCase() === '100-continue';
}

function withChunkedBody(bytes: Buffer, start: number, head: Head): Parsed {
  const more: Parsed = { kind: 'more', need: bytes.length + 1, expectsContinue: wantsContinue(head) };
  const parts: Buffer[] = [];
  let total = 0;
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return more;
    const sizeText = bytes.toString('latin1', at, lineEnd).split(';', 1)[0].trim();
    if (!/^[0-9a-fA-F]{1,8}$/.test(sizeText)) return { kind: 'bad', status: 400 };
    const size = Number.parseInt(sizeText, 16);
    total += size;
    if (total > MAX_BODY_BYTES) return { kind: 'bad', status: 413 };
    at = lineEnd + 2;
    if (size === 0) break;
    if (bytes.length < at + size + 2) return { ...more, need: at + size + 2 };
    parts.push(bytes.subarray(at, at + size));
    at += size + 2;
  }
  // Trailers are read and dropped: every line up to the empty one.
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return more;
    const isLast = lineEnd === at;
    at = lineEnd + 2;
    if (isLast) return { kind: 'request', request: { ...head, body: Buffer.concat(parts) }, end: at };
  }
}

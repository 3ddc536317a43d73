/** One way to frame a POST whose body is `body`; the rest of the head is added. */
export interface WireCase {
  name: string;
  /** The request line; default POST of the path in HTTP/1.1. */
  line?: string;
  /** Header lines beside Host, Authorization and Content-Type, and what ends the head; default an empty line. */
  head: string;
  body: string;
  /** Replaces the whole request. */
  raw?: string;
}

export const BODY = '{"model":"simulator/chat","messages":[{"role":"user","content":"Hello"}]}';
const length = BODY.length;
const hex = length.toString(16);
const chunked = `${hex}\r\n${BODY}\r\n0\r\n\r\n`;
const CL = `Content-Length: ${length}`;
const TE = 'Transfer-Encoding: chunked';
const long = 'x'.repeat(40_000);

const lengths: [string, string][] = [
  ['two equal lengths', `${CL}\r\n${CL}`],
  ['two lengths', `${CL}\r\nContent-Length: 3`],
  ['a list of lengths', `${CL}, ${length}`],
  ['a signed length', `Content-Length: +${length}`],
  ['a negative length', 'Content-Length: -1'],
  ['a hexadecimal length', `Content-Length: 0x${hex}`],
  ['two numbers', `${CL} 3`],
  ['no number', 'Content-Length: '],
  ['a length past 64 bits', 'Content-Length: 99999999999999999999999999'],
  ['a space before the colon', `Content-Length : ${length}`],
];

const codings: [string, string][] = [
  ['length, then chunked', `${CL}\r\n${TE}`],
  ['chunked, then length', `${TE}\r\n${CL}`],
  ['another coding', 'Transfer-Encoding: xchunked'],
  ['chunked not last', 'Transfer-Encoding: chunked, identity'],
  ['gzip below chunked', 'Transfer-Encoding: gzip, chunked'],
  ['identity', 'Transfer-Encoding: identity'],
  ['chunked twice', `${TE}\r\n${TE}`],
  ['chunked and another', `${TE}\r\nTransfer-Encoding: x`],
  ['a vertical tab', 'Transfer-Encoding: \vchunked'],
  ['a space before the colon of chunked', 'Transfer-Encoding : chunked'],
  ['an empty coding', 'Transfer-Encoding: '],
  ['a folded coding', 'Transfer-Encoding:\r\n chunked'],
];

const chunks: [string, string][] = [
  ['a size that is no number', `zz\r\n${BODY}\r\n0\r\n\r\n`],
  ['a negative size', `-${hex}\r\n${BODY}\r\n0\r\n\r\n`],
  ['a size with 0x', `0x${hex}\r\n${BODY}\r\n0\r\n\r\n`],
  ['a size past 64 bits', `fffffffffffffffff\r\n${BODY}\r\n0\r\n\r\n`],
  ['a space after the size', `${hex} \r\n${BODY}\r\n0\r\n\r\n`],
  ['bare LF around chunks', `${hex}\n${BODY}\n0\n\n`],
  ['more data than the size', `3\r\n${BODY}\r\n0\r\n\r\n`],
  ['40,000 bytes of extension', `${hex};${long}\r\n${BODY}\r\n0\r\n\r\n`],
  ['a bare LF in an extension', `${hex};a\nb\r\n${BODY}\r\n0\r\n\r\n`],
];

const headers: [string, string][] = [
  ['a folded header', 'X-A: b\r\n c'],
  ['a bare CR', 'X-A: b\rX-B: c'],
  ['a bare LF', 'X-A: b\nX-B: c'],
  ['NUL in a name', 'X\0A: b'],
  ['NUL in a value', 'X-A: b\0c'],
  ['a control byte in a value', 'X-A: b\x01c'],
  ['DEL in a value', 'X-A: b\x7fc'],
  ['an 8-bit name', 'X\xe9: b'],
  ['a name with brackets', 'X(a): b'],
  ['no name', ': b'],
  ['no colon', 'XA'],
  ['a second host', 'Host: y'],
  ['a second content type', 'Content-Type: text/plain'],
  ['a second authorization', 'Authorization: Bearer x'],
];

const lines: [string, string][] = [
  ['the absolute form', 'POST http://127.0.0.1:1/v1/chat/completions HTTP/1.1'],
  ['the absolute form of a neighbour', 'POST http://127.0.0.1:1/v1/keys HTTP/1.1'],
  ['a target without a slash', 'POST v1/chat/completions HTTP/1.1'],
  ['NUL in the target', 'POST /v1/chat\0 HTTP/1.1'],
  ['an 8-bit target', 'POST /v1/chat\xff HTTP/1.1'],
  ['a space in the target', 'POST /v1/ chat HTTP/1.1'],
  ['tabs in the line', 'POST\t/v1/chat/completions\tHTTP/1.1'],
  ['HTTP/0.9', 'GET /v1/models'],
  ['HTTP/1.2', 'POST /v1/chat/completions HTTP/1.2'],
  ['HTTP/2.0', 'POST /v1/chat/completions HTTP/2.0'],
  ['a lower case method', 'post /v1/chat/completions HTTP/1.1'],
  ['an unknown method', 'BREW /v1/chat/completions HTTP/1.1'],
];

/** U16: what two servers in a row may read in two ways. Each is 400, and the connection ends with it. */
export const SMUGGLED: readonly WireCase[] = [
  ...lengths.map(([name, head]) => ({ name, head, body: BODY })),
  ...codings.map(([name, head]) => ({ name, head, body: chunked })),
  ...chunks.map(([name, body]) => ({ name, head: TE, body })),
  ...headers.map(([name, head]) => ({ name, head: `${head}\r\n${CL}`, body: BODY })),
  ...lines.map(([name, line]) => ({ name, line, head: CL, body: BODY })),
  { name: 'chunked in HTTP/1.0', line: 'POST /v1/chat/completions HTTP/1.0', head: TE, body: chunked },
  { name: 'lines that end in LF', head: '', body: '', raw: 'GET /v1/models HTTP/1.1\nHost: x\n\n' },
  { name: 'a TLS greeting', head: '', body: '', raw: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' },
  { name: 'the preface of HTTP/2', head: '', body: '', raw: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' },
];

/** Unusual requests that are allowed: they can be read in one way only. */
export const ALLOWED: readonly WireCase[] = [
  { name: 'an ordinary request', head: CL, body: BODY },
  { name: 'chunks', head: TE, body: chunked },
  { name: 'a chunk extension', head: TE, body: `${hex};a=b\r\n${BODY}\r\n0\r\n\r\n` },
  { name: 'a trailer', head: TE, body: `${hex}\r\n${BODY}\r\n0\r\nX-T: 1\r\n\r\n` },
  {
    name: 'one byte per chunk',
    head: TE,
    body: `${[...BODY].map((byte) => `1\r\n${byte}\r\n`).join('')}0\r\n\r\n`,
  },
  { name: 'an 8-bit value', head: `X-A: \xe9\r\n${CL}`, body: BODY },
  { name: 'a header of 15,000 bytes', head: `X-A: ${long.slice(0, 15_000)}\r\n${CL}`, body: BODY },
];

/** 16 KiB of headers, and no more. */
export const OVERSIZED: readonly WireCase[] = [
  { name: 'one large header', head: `X-A: ${long.slice(0, 16_500)}\r\n${CL}`, body: BODY },
  { name: '3,000 small headers', head: `${'a: b\r\n'.repeat(3_000)}${CL}`, body: BODY },
  { name: 'a large target', line: `POST /v1/chat/completions?${long} HTTP/1.1`, head: CL, body: BODY },
  { name: 'a large trailer', head: TE, body: `${hex}\r\n${BODY}\r\n0\r\nX-T: ${long}\r\n\r\n` },
];

export function wireBytes(of: WireCase, key: string): Buffer {
  if (of.raw !== undefined) return Buffer.from(of.raw, 'latin1');
  const line = of.line ?? 'POST /v1/chat/completions HTTP/1.1';
  const fixed = [
    'Host: x',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    'Connection: close',
  ];
  return Buffer.from(`${[line, ...fixed, of.head].join('\r\n')}\r\n\r\n${of.body}`, 'latin1');
}

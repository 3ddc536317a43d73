import type { Exchange } from './http-server.js';

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
};

export const JSON_TYPE = 'application/json';
export const STREAM_TYPE = 'text/event-stream; charset=utf-8';

/** Status line and headers of an answer whose length is known. */
export function headOf(
  status: number,
  contentType: string,
  length: number,
  extra: Readonly<Record<string, string>> = {},
): string {
  return `${startOf(status, contentType, extra)}content-length: ${length}\r\n\r\n`;
}

/** Status line and headers of a stream; HTTP/1.0 callers read it until the connection closes. */
export function streamHeadOf(exchange: Exchange): string {
  const framing = exchange.request.http10
    ? 'connection: close\r\n\r\n'
    : 'transfer-encoding: chunked\r\n\r\n';
  return startOf(200, STREAM_TYPE, { 'cache-control': 'no-cache' }) + framing;
}

function startOf(status: number, contentType: string, extra: Readonly<Record<string, string>>): string {
  let head = `HTTP/1.1 ${status} ${REASONS[status] ?? 'Sim'}\r\ncontent-type: ${contentType}\r\n`;
  for (const name in extra) head += `${name}: ${extra[name]}\r\n`;
  return head;
}

export function sendWhole(
  exchange: Exchange,
  status: number,
  contentType: string,
  body: string | Buffer,
  extra: Readonly<Record<string, string>> = {},
): void {
  const head = headOf(status, contentType, Buffer.byteLength(body), extra);
  exchange.write(typeof body === 'string' ? head + body : Buffer.concat([Buffer.from(head), body]));
  exchange.finish();
}

/** A piece of a stream as one HTTP chunk. */
export function chunkOf(exchange: Exchange, bytes: Buffer): Buffer {
  if (exchange.request.http10) return bytes;
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export function endStream(exchange: Exchange): void {
  if (!exchange.request.http10) exchange.write('0\r\n\r\n');
  exchange.finish();
}

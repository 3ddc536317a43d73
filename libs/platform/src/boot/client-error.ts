import type { Socket } from 'node:net';
import { STATUS_CODES } from 'node:http';
import { BASELINE_VERSION } from '@gateway/api-version';
import { ApiError, errorEnvelope, HEADER } from '@gateway/contracts';

const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};
const MESSAGES: Readonly<Record<number, string>> = {
  400: 'This is not a well-formed HTTP request.',
  408: 'The request did not arrive in time.',
  431: 'The headers are larger than 16,384 bytes.',
};

/**
 * Answers a request that Node's parser has refused: there is no request, so the envelope is written by hand and the
 * connection ends.
 */
export function answerClientError(
  error: Error & { code?: string },
  socket: Socket,
  newRequestId: () => string,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  // Bytes of an answer may be under way: a second status line among them would be read as part of a body.
  if (!socket.writable || isAnswering(socket)) {
    socket.destroy(error);
    return;
  }
  const status = STATUS_OF_CODE[error.code ?? ''] ?? 400;
  const requestId = newRequestId();
  const rejection = new ApiError('bad_request', { status, message: MESSAGES[status] });
  const body = JSON.stringify(errorEnvelope(rejection, requestId));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `${HEADER.serviceVersion}: ${BASELINE_VERSION}`,
    `${HEADER.requestId}: ${requestId}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

/** Node keeps the response that owns a connection on its socket. */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: { headersSent: boolean } | null };
  return response?.headersSent === true;
}

import { BODY_LIMIT_BYTES } from '@gateway/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';

const PAGE = `<!DOCTYPE html>
<html>
<head><title>413 Request Entity Too Large</title></head>
<body><h1>413 Request Entity Too Large</h1></body>
</html>
`;

/** True where the declared length is over the limit: nothing of it is read into memory. */
export function declaresTooMuch(request: FastifyRequest): boolean {
  const declared = request.headers['content-length'];
  return declared !== undefined && Number(declared) > BODY_LIMIT_BYTES;
}

/** The plain page of an edge in front of us: no request id, no version, no CORS, no trace (spec, Limits 6). */
export function sendTooLarge(request: FastifyRequest, reply: FastifyReply): void {
  request.isOversized = true;
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
  // Not `Connection: close`: Node then reads and drops what is still coming, so that a client which sends
  // the whole body first gets to see the answer. requestTimeout bounds it.
  void reply
    .code(413)
    .type('text/html; charset=utf-8')
    .serializer((page: string) => page)
    .send(PAGE);
}

export function isTooLarge(failure: unknown): boolean {
  return failure instanceof Error && 'code' in failure && failure.code === 'FST_ERR_CTP_BODY_TOO_LARGE';
}

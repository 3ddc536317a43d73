import { HttpException } from '@nestjs/common';
import { BODY_LIMIT_BYTES } from '@gateway/contracts';
import { errorCodes, type FastifyReply, type FastifyRequest } from 'fastify';

const PAGE = `<!DOCTYPE html>
<html>
<head><title>413 Request Entity Too Large</title></head>
<body><h1>413 Request Entity Too Large</h1></body>
</html>
`;

/** Time for which the rest of a refused body is read and dropped. */
const LINGER_MS = 10_000;

/** True where the declared length is over the limit: nothing of it is read into memory. */
export function declaresTooMuch(request: FastifyRequest): boolean {
  const declared = request.headers['content-length'];
  return (
    declared !== undefined && Number(declared) > BODY_LIMIT_BYTES && Number(declared) > limitAt(request.url)
  );
}

const INTERNAL = '/internal/';
/** One service may send another what came in a body twice, beside what was made of it. */
const FLEET_LIMIT_BYTES = 3 * BODY_LIMIT_BYTES;

/** Largest body of a path. Of the fleet's own paths it is read for the fleet alone. */
export function limitAt(path: string): number {
  return path.startsWith(INTERNAL) ? FLEET_LIMIT_BYTES : BODY_LIMIT_BYTES;
}

/**
 * The plain page of an edge in front of us: no request id, no version, no CORS, no trace.
 * The answer is whole at once, but the connection stays open until the rest of the body was read and dropped,
 * or for some seconds: closing it earlier would reset it, and a client that sends first would see no answer.
 */
export function sendTooLarge(request: FastifyRequest, reply: FastifyReply): void {
  request.isOversized = true;
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(413, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(PAGE),
  });
  raw.write(PAGE);
  if (request.raw.complete) {
    raw.end();
    return;
  }
  const end = (): void => {
    clearTimeout(timer);
    raw.end();
  };
  const timer = setTimeout(() => {
    raw.end();
    request.raw.destroy();
  }, LINGER_MS).unref();
  request.raw.unpipe().once('end', end).once('error', end).once('close', end).resume();
}

/** Reads and drops a body of unknown length, or what is left of it, then says whether it was over the limit. */
export function dropBody(request: FastifyRequest, readBytes = 0): Promise<boolean> {
  return new Promise((resolve) => {
    let size = readBytes;
    const count = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > BODY_LIMIT_BYTES) settle(true);
    };
    const end = (): void => settle(false);
    const settle = (wasTooLarge: boolean): void => {
      request.raw.removeListener('data', count).removeListener('end', end).removeListener('close', end);
      resolve(wasTooLarge);
    };
    if (size > BODY_LIMIT_BYTES) return resolve(true);
    request.raw.once('end', end).once('close', end).on('data', count);
  });
}

/** Returns the error that Fastify throws where a body that it reads is over the limit. */
export function tooLarge(): Error {
  return new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
}

/** Fastify's own failure, or the exception that Nest makes of it. */
export function isTooLarge(failure: unknown): boolean {
  if (failure instanceof HttpException) return failure.getStatus() === 413;
  return failure instanceof Error && 'code' in failure && failure.code === 'FST_ERR_CTP_BODY_TOO_LARGE';
}

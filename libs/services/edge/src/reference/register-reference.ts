import { ApiError } from '@gateway/contracts';
import type { FastifyInstance } from 'fastify';
import type { ReferenceFile } from './reference-files.js';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  // A new release has new files at the same paths.
  'cache-control': 'public, max-age=300',
  vary: 'accept-encoding',
} as const;

/** The API's document and its rendered reference, for everybody. Only these paths: nothing of a request is a file name. */
export function registerReference(
  instance: FastifyInstance,
  files: ReadonlyMap<string, ReferenceFile>,
): void {
  for (const [path, file] of files) {
    instance.get(path, { config: { access: { public: true }, isFile: true } }, async (request, reply) => {
      const content = await file.content().catch((cause: unknown) => {
        throw new ApiError('not_found', {
          cause,
          message: 'This gateway was installed without its documents.',
        });
      });
      void reply.headers(HEADERS).type(file.type);
      const isCompressed = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(
        request.headers['accept-encoding'] ?? '',
      );
      if (isCompressed) void reply.header('content-encoding', 'gzip');
      return reply.send(isCompressed ? content.gzip : content.plain);
    });
  }
}

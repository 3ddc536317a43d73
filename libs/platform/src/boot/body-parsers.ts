import { ApiError } from '@gateway/contracts';
import { BodyFault, parseBody } from '@gateway/dialects';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * Replaces Fastify's parsers. None of them throws: a body that cannot be used is remembered in `bodyFault`
 * and refused after authentication, because the body is the last thing that is looked at.
 * A plugin scope that takes other bodies (multipart, raw bytes) registers its own parsers inside itself.
 */
export function registerBodyParsers(instance: FastifyInstance): void {
  instance.removeAllContentTypeParsers();
  const json = /^application\/(?:json|[\w.+-]+\+json)\s*(?:;|$)/i;
  instance.addContentTypeParser<Buffer>(json, { parseAs: 'buffer' }, (request, bytes, done) => {
    if (request.routeOptions.config.keepsBytes === true) request.bodyBytes = bytes;
    done(null, jsonOf(request, bytes));
  });
  instance.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    if (bytes.length > 0) request.bodyFault ??= wrongContentType();
    done(null, undefined);
  });
}

function jsonOf(request: FastifyRequest, bytes: Buffer): unknown {
  if (bytes.length === 0 || request.bodyFault !== null) return undefined;
  const body = parseBody(bytes);
  if (!(body instanceof BodyFault)) return body.value;
  const { detail } = body;
  request.bodyFault = new ApiError('validation_error', { message: detail.msg, details: [detail] });
  return undefined;
}

function wrongContentType(): ApiError {
  const msg = 'The body has to be JSON, with Content-Type application/json.';
  return new ApiError('validation_error', {
    message: msg,
    details: [{ type: 'content_type_invalid', loc: ['header', 'content-type'], msg }],
  });
}

/** Request bodies are never compressed: what a few bytes unpack to could not be bounded by their length. */
export function contentEncodingFault(encoding: string): ApiError | null {
  if (encoding.trim() === '' || /^identity$/i.test(encoding.trim())) return null;
  return new ApiError('invalid_input', {
    status: 415,
    message: 'Content-Encoding is not accepted on request bodies.',
  });
}

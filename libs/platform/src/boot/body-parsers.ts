import { ApiError } from '@gateway/contracts';
import { BodyFault, parseBody, parseSpelled, spellBody, type ParsedBody } from '@gateway/json-body';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * Replaces Fastify's parsers. None of them throws: a body that cannot be used is remembered in `bodyFault`
 * and refused after authentication, because the body is the last thing that is looked at.
 * A plugin scope that takes other bodies (multipart, raw bytes) registers its own parsers inside itself.
 * What the fleet's own services send holds the bodies of many callers, and answers of providers: each was bounded where it
 * came in, and their sum is no caller's body.
 */
export function registerBodyParsers(
  instance: FastifyInstance,
  isOfFleet: (request: FastifyRequest) => boolean,
): void {
  instance.removeAllContentTypeParsers();
  const json = /^application\/(?:json|[\w.+-]+\+json)\s*(?:;|$)/i;
  instance.addContentTypeParser<Buffer>(json, { parseAs: 'buffer' }, (request, bytes, done) => {
    if (request.routeOptions.config.keepsBytes === true) request.bodyBytes = bytes;
    done(null, jsonOf(request, bytes, isOfFleet(request) ? objectOf : spelledBody));
  });
  instance.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (request, bytes, done) => {
    if (bytes.length > 0) request.bodyFault ??= wrongContentType();
    done(null, undefined);
  });
}

/** Parses a body and remembers how it was written: what callers store is returned in that form. */
function spelledBody(bytes: Buffer): ParsedBody | BodyFault {
  const body = parseBody(bytes);
  if (!(body instanceof BodyFault)) spellBody(body);
  return body;
}

function jsonOf(
  request: FastifyRequest,
  bytes: Buffer,
  parse: (bytes: Buffer) => Pick<ParsedBody, 'value'> | BodyFault,
): unknown {
  if (bytes.length === 0 || request.bodyFault !== null) return undefined;
  const body = parse(bytes);
  if (!(body instanceof BodyFault)) return body.value;
  const { detail } = body;
  request.bodyFault = new ApiError('validation_error', { message: detail.msg, details: [detail] });
  return undefined;
}

function objectOf(bytes: Buffer): Pick<ParsedBody, 'value'> | BodyFault {
  try {
    const value = parseSpelled(bytes.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { value: value as Record<string, unknown> };
  } catch {
    // Said below.
  }
  return new BodyFault({ type: 'json_invalid', loc: ['body'], msg: 'The body has to be a JSON object.' });
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

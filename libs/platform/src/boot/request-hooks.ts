import { BASELINE_VERSION, resolveVersion } from '@gateway/api-version';
import { ApiError, HEADER } from '@gateway/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import '../request/gateway-request.js';
import { contentEncodingFault } from './body-parsers.js';
import type { Entrance } from './entrance.js';
import { declaresTooMuch, sendTooLarge } from '../request/oversize.js';

const SERVICE_VERSION = HEADER.serviceVersion.toLowerCase();

/**
 * The order of every request: one meaning (what a neighbour could read in another way is refused), size, version
 * header, then (elsewhere) authentication, status of the key, body. A request whose length is known is judged at
 * once. The size of a chunked body is known only at its end, so its
 * refusal waits in `request.refusal` until then (pressure/body-intake.ts).
 */
export function registerRequestHooks(instance: FastifyInstance, entrance: () => Entrance | undefined): void {
  instance.decorateRequest('requestId', { getter: requestIdOf });
  instance.decorateRequest('apiVersion', BASELINE_VERSION);
  instance.decorateRequest('isVersionPinned', false);
  instance.decorateRequest('principal', null);
  instance.decorateRequest('bodyFault', null);
  instance.decorateRequest('bodyBytes', null);
  instance.decorateRequest('refusal', null);
  instance.decorateRequest('heldBytes', 0);
  instance.decorateRequest('isOversized', false);
  // One hook, because each costs every request.
  instance.addHook('onRequest', (request, reply, done) => {
    const fault = framingFault(request.raw);
    if (fault !== null) {
      reply.header('Connection', 'close');
      return done(new ApiError('bad_request', { message: fault }));
    }
    if (declaresTooMuch(request)) return sendTooLarge(request, reply);
    if (hasNul(request.url)) return done(new ApiError('not_found'));
    const refusal = readVersion(request) ?? entrance()?.draining(request, reply) ?? null;
    const encoding = request.headers['content-encoding'];
    if (encoding !== undefined) request.bodyFault = contentEncodingFault(encoding);
    if (refusal !== null) {
      if (request.headers['transfer-encoding'] === undefined) return done(refusal);
      request.refusal = refusal;
    }
    done(entrance()?.enter(request, reply) ?? undefined);
  });
}

/** No id of ours holds one, and PostgreSQL takes none in a text. Of the query it is a fault that names its parameter. */
function hasNul(url: string): boolean {
  const at = url.indexOf('%00');
  return at >= 0 && !url.slice(0, at).includes('?');
}

function requestIdOf(this: FastifyRequest): string {
  return this.id;
}

/**
 * Sets the version of the request from its header and answers why it cannot be, or null.
 * The realtime socket negotiates its version itself and ignores the header (spec, Versioning 13).
 */
export function readVersion(request: FastifyRequest): ApiError | null {
  const header = request.headers[SERVICE_VERSION];
  if (header === undefined || request.url.startsWith('/v1/realtime')) return null;
  try {
    request.apiVersion = resolveVersion(header, null);
    request.isVersionPinned = true;
    return null;
  } catch (failure) {
    if (failure instanceof ApiError) return failure;
    throw failure;
  }
}

/**
 * Two of these are two requests in one: whoever stands before us may have believed the other. Node keeps the first of
 * each and refuses a second Content-Length by itself. By length, because every request passes here.
 */
const ONCE: Readonly<Record<number, string>> = {
  4: 'host',
  12: 'content-type',
  13: 'authorization',
};
/** A name or an address, with a port (RFC 9112 3.2). */
const HOST = /^[\w.:[\]%~!$&'()*+,;=-]*$/;

/** Returns the reason why a neighbour may read an accepted request in another way; null where it may not. */
export function framingFault(request: IncomingMessage): string | null {
  const { url = '', headers, rawHeaders, httpVersion } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return `HTTP/${httpVersion} is not spoken here.`;
  // The absolute form is for proxies; what follows the host would be routed as if it were ours.
  if (url.charCodeAt(0) !== 47 && url !== '*') return 'The request target has to begin with a slash.';
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.trim().toLowerCase() !== 'chunked'))
    return 'The only transfer coding is chunked, and of HTTP/1.1.';
  if (!HOST.test(headers.host ?? '')) return 'The Host header is not a host.';
  return repeated(rawHeaders);
}

function repeated(rawHeaders: readonly string[]): string | null {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const { length } = rawHeaders[at];
    const name = ONCE[length];
    if (name === undefined || rawHeaders[at].toLowerCase() !== name) continue;
    if ((seen & (1 << length)) !== 0) return `The header ${name} is there twice.`;
    seen |= 1 << length;
  }
  return null;
}

import { BASELINE_VERSION, resolveVersion } from '@gateway/api-version';
import { ApiError, HEADER } from '@gateway/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { contentEncodingFault } from './body-parsers.js';
import type { Entrance } from './entrance.js';
import { framingFault } from './framing.js';
import { declaresTooMuch, sendTooLarge } from '../request/oversize.js';
import '../request/gateway-request.js';

const SERVICE_VERSION = HEADER.serviceVersion.toLowerCase();

/**
 * The order of every request: one meaning (what a neighbour could read in another way is refused), size, version header, then (elsewhere) authentication, status of the key, body.
 * A request whose length is known is judged at once. The size of a chunked body is known only at its end, so its
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

import { ApiError, type KeyPrincipal, type Principal, type SessionPrincipal } from '@gateway/contracts';
import type { FastifyRequest } from 'fastify';

/** Returns the caller. Throws ApiError `unauthorized` on a route that authenticated nobody. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new ApiError('unauthorized');
  return request.principal;
}

/** Throws ApiError `forbidden` where the caller has no session. */
export function sessionOf(request: FastifyRequest): SessionPrincipal {
  const principal = principalOf(request);
  if (principal.kind !== 'session') throw new ApiError('forbidden');
  return principal;
}

/** Throws ApiError `forbidden` where the caller has no rsk_ key. */
export function keyOf(request: FastifyRequest): KeyPrincipal {
  const principal = principalOf(request);
  if (principal.kind !== 'key') throw new ApiError('forbidden');
  return principal;
}

/** The id that names a caller in logs, audit rows and idempotency scopes. */
export function principalId(principal: Principal): string {
  return principal.kind === 'session' ? principal.userId : principal.keyId;
}

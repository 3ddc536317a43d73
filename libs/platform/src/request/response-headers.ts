import { resolveVersion, retirementHeaders, VERSIONS } from '@gateway/api-version';
import { EXPOSED_HEADERS, HEADER, type Principal } from '@gateway/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';

const EXPOSED = EXPOSED_HEADERS.join(', ');
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
} as const;
/** Nothing is to be read as another type than it says, nor kept, unless its handler says so. */
const CAUTIOUS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const;
const RETIREMENT: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map(
  VERSIONS.map((version) => [version.label, retirementHeaders(version)]),
);

/** Browser scripts of any origin may call the API; cookie endpoints under /auth are not part of it. */
export function isCrossOriginPath(url: string): boolean {
  return url.startsWith('/v1/') || url.startsWith('/openai/v1/');
}

/**
 * The headers of every answer to this request. The platform sets them on `reply` by itself; a handler that
 * hijacks its reply writes them to the raw response.
 */
export function responseHeaders(request: FastifyRequest): Record<string, string> {
  return {
    [HEADER.serviceVersion]: request.apiVersion,
    [HEADER.requestId]: request.id,
    ...CAUTIOUS,
    ...RETIREMENT.get(request.apiVersion),
    ...(isCrossOriginPath(request.url) ? CORS : {}),
  };
}

/** Without a version header the key's stored version applies, known only after authentication. */
export function applyKeyPin(request: FastifyRequest, reply: FastifyReply, principal: Principal): void {
  if (request.isVersionPinned || principal.kind !== 'key' || principal.apiVersion === null) return;
  const label = resolveVersion(undefined, principal.apiVersion);
  if (label === request.apiVersion) return;
  for (const name of Object.keys(RETIREMENT.get(request.apiVersion) ?? {})) reply.removeHeader(name);
  request.apiVersion = label;
  reply.headers({ [HEADER.serviceVersion]: label, ...RETIREMENT.get(label) });
}

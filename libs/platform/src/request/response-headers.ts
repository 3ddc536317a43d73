import { BASELINE_VERSION, resolveVersion, retirementHeaders, VERSIONS } from '@gateway/api-version';
import { EXPOSED_HEADERS, HEADER, type KeyPrincipal, type Principal } from '@gateway/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';

const EXPOSED = EXPOSED_HEADERS.join(', ');
const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
} as const;
/** Nothing is to be read as another type than it says, nor kept, unless its handler says so. */
const CAUTIOUS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' } as const;
type Headers = Readonly<Record<string, string>>;

/** Browser scripts of any origin may call the API; cookie endpoints under /auth are not part of it. */
export function isCrossOriginPath(url: string): boolean {
  return url.startsWith('/v1/') || url.startsWith('/openai/v1/');
}

/** Headers by version, of API paths and of others: everything but the request's id. Copied for each answer. */
const TEMPLATES: ReadonlyMap<string, { api: Headers; own: Headers }> = new Map(
  VERSIONS.map((version) => {
    const own = {
      [HEADER.serviceVersion]: version.label,
      [HEADER.requestId]: '',
      ...CAUTIOUS,
      ...retirementHeaders(version),
    };
    return [version.label, { own, api: { ...own, ...CORS } }];
  }),
);

/**
 * The headers of every answer to this request, in an object of the caller's own. The platform adds them to what is sent
 * through `reply`; a handler that hijacks its reply writes them to the raw response.
 */
export function responseHeaders(
  request: Pick<FastifyRequest, 'id' | 'url' | 'apiVersion'>,
): Record<string, string> {
  const templates = TEMPLATES.get(request.apiVersion);
  if (templates === undefined) throw new TypeError(`no API version ${request.apiVersion}`);
  const headers = { ...(isCrossOriginPath(request.url) ? templates.api : templates.own) };
  headers[HEADER.requestId] = request.id;
  return headers;
}

/** Adds them to an answer that Fastify sends; what its handler has set stays. */
export function addResponseHeaders(request: FastifyRequest, reply: FastifyReply): void {
  for (const [name, value] of Object.entries(responseHeaders(request)))
    if (!reply.hasHeader(name)) void reply.header(name, value);
}

/** Applies the key's stored version where there is no version header; it is known only after authentication. */
export function applyKeyPin(request: FastifyRequest, principal: Principal): void {
  if (!request.isVersionPinned && principal.kind === 'key') request.apiVersion = pinnedVersion(principal);
}

/** Returns the version of a key's requests that name none. */
export function pinnedVersion({ apiVersion: pin }: KeyPrincipal): string {
  return pin === null ? BASELINE_VERSION : resolveVersion(undefined, pin);
}

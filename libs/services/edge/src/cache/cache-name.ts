import { canonicalJson, rememberSpelling, writeJson } from '@gateway/json-body';
import { createHash } from 'node:crypto';
import { HEADER, type KeyPrincipal } from '@gateway/contracts';
import type { InferenceRequest } from '../request/inference-request.js';

/** Members of a body that make an answer depend on more than the body: it is not kept. */
const BEYOND_THE_BODY = ['memory', 'template', 'previous_response_id', 'conversation'];
/** Headers that an endpoint reads. */
const READ_HEADERS = ['anthropic-beta', 'anthropic-version'];

/**
 * Returns the name under which an answer is cached: everything that it may depend on. Null where the key has no
 * response cache, the caller refuses it, or the endpoint's answers are not kept.
 */
export function cacheName(request: InferenceRequest, principal: KeyPrincipal, model: string): string | null {
  if (!principal.responseCache || request.endpoint.isCacheable !== true || isRefused(request)) return null;
  const text = Buffer.from(request.bytes).toString('utf8');
  const body = JSON.parse(text) as Record<string, unknown>;
  if (BEYOND_THE_BODY.some((member) => body[member] !== undefined && body[member] !== null)) return null;
  const parts = [
    principal.accountId,
    principal.access,
    principal.fixedProvider,
    principal.routingPolicy,
    request.apiVersion,
    request.path,
    READ_HEADERS.map((name) => request.headers[name] ?? null),
    { ...body, model },
  ];
  // Two numbers that are one double are two all the same: what is written otherwise is a part of the name as it stands.
  const odd = rememberSpelling(body, text) ? writeJson(body) : '';
  return createHash('sha256').update(canonicalJson(parts)).update(odd).digest('base64url');
}

/** `X-Service-Cache: no-store` asks for a call, and for keeping nothing of it. */
function isRefused({ headers }: InferenceRequest): boolean {
  const said = headers[HEADER.serviceCache.toLowerCase()];
  return (
    typeof said === 'string' &&
    said
      .toLowerCase()
      .split(',')
      .some((word) => word.trim() === 'no-store')
  );
}

import { ApiError } from '@gateway/contracts';
import type { FastifyRequest } from 'fastify';
import { SESSION_LIFE_MS } from './session.store.js';

/** `__Host-` lets no other host and no plain HTTP set it. */
const NAME = '__Host-refresh';
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';

export function refreshCookie(token: string): string {
  return `${NAME}=${token}; Max-Age=${SESSION_LIFE_MS / 1000}; ${ATTRIBUTES}`;
}

export function clearedCookie(): string {
  return `${NAME}=; Max-Age=0; ${ATTRIBUTES}`;
}

/**
 * The refresh token of the dashboard's cookie; null where there is none. A browser sends the cookie by itself, so the
 * request must come from the dashboard's own origin: ApiError `forbidden` where its headers say otherwise.
 */
export function refreshTokenOf(
  { headers }: FastifyRequest,
  dashboardOrigin: string | undefined,
): string | null {
  const pair = (headers.cookie ?? '').split(/; */).find((part) => part.startsWith(`${NAME}=`));
  const token = pair?.slice(NAME.length + 1) ?? '';
  if (token === '') return null;
  const site = headers['sec-fetch-site'];
  const isSameSite = site === undefined || site === 'same-origin';
  const isOwnOrigin = headers.origin === undefined || isOwn(headers.origin, hostOf(headers), dashboardOrigin);
  // A browser names at least one of the two; a caller that names neither is no browser and sends the body instead.
  const isNamed = site !== undefined || headers.origin !== undefined;
  if (!isSameSite || !isOwnOrigin || !isNamed) {
    throw new ApiError('forbidden', { message: 'The cookie counts only from the dashboard’s own origin.' });
  }
  return token;
}

function isOwn(origin: string, host: string | undefined, dashboardOrigin: string | undefined): boolean {
  if (dashboardOrigin !== undefined) return origin === dashboardOrigin;
  return URL.canParse(origin) && new URL(origin).host === host;
}

/**
 * The host that the browser named: an edge before this service passes it on in a header. A page of another origin cannot set
 * that header and send the cookie, because no preflight is answered with credentials.
 */
function hostOf(headers: FastifyRequest['headers']): string | undefined {
  const forwarded = headers['x-forwarded-host'];
  return typeof forwarded === 'string' ? forwarded : headers.host;
}

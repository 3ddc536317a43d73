import type { Random } from '@gateway/contracts';
import { seal, unsealWithAny } from '@gateway/sealing';
import type { FastifyRequest } from 'fastify';
import type { Begun } from './identity-provider.js';

const NAME = '__Host-oidc';
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';
const LIFE_SECONDS = 600;
const CONTEXT = 'oidc_login';

type Keks = readonly [Uint8Array, ...Uint8Array[]];

/** A login that has begun, sealed in the browser that began it: nobody else can end it. */
export function beginCookie(begun: Begun, keks: Keks, nowMs: number, random: Random): string {
  const text = JSON.stringify({ ...begun, until: nowMs + LIFE_SECONDS * 1000 });
  const sealed = Buffer.from(seal(Buffer.from(text), keks[0], CONTEXT, random)).toString('base64url');
  return `${NAME}=${sealed}; Max-Age=${LIFE_SECONDS}; ${ATTRIBUTES}`;
}

export function endCookie(): string {
  return `${NAME}=; Max-Age=0; ${ATTRIBUTES}`;
}

/** null where there is none, it is not ours, or it is too old. */
export function begunOf({ headers }: FastifyRequest, keks: Keks, nowMs: number): Begun | null {
  const pair = (headers.cookie ?? '').split(/; */).find((part) => part.startsWith(`${NAME}=`));
  if (pair === undefined) return null;
  try {
    const sealed = Buffer.from(pair.slice(NAME.length + 1), 'base64url');
    const text = unsealWithAny(sealed, keks, CONTEXT).toString('utf8');
    const begun = JSON.parse(text) as Begun & { until: number };
    return begun.until > nowMs ? begun : null;
  } catch {
    return null;
  }
}

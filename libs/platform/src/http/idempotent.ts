import { createHash } from 'node:crypto';
import {
  ApiError,
  HEADER,
  type Clock,
  type CreateAnswer,
  type IdempotencyClaim,
  type IdempotencyRecord,
  type IdempotencyStore,
  type Principal,
  type StoredAnswer,
} from '@gateway/contracts';
import type { FastifyRequest } from 'fastify';
import { principalId, principalOf } from '../auth/principal-of.js';

/** The answer to a create. */
export interface Created<T extends object = object> extends CreateAnswer<T> {
  /** Members of the body that are secrets: sent once, never stored. */
  secretFields?: readonly string[];
}

export const IDEMPOTENCY_KEPT_MS = 24 * 3_600_000;
const ABANDONED_AFTER_MS = 120_000;
/** Number of times, and the interval, at which a second request looks for the first one's answer. */
const LOOKS_MAX = 100;
const LOOK_MS = 50;
const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/;

/**
 * Runs a create once per caller, endpoint and Idempotency-Key; without the header it simply runs. The same body
 * again gets the first answer without its secrets; another body, or a first request still under way,
 * is ApiError `conflict`; an unusable key `validation_error`. `waits`: a second request waits up to 5 s for the first one,
 * which a table within the create's transaction makes it do by itself. `create` gets the claim, null without the header: what
 * would outlive this process can be noted under it with what was made.
 */
export async function idempotent<T extends object>(
  { store, clock, waits }: Claiming,
  request: FastifyRequest,
  create: (claim: IdempotencyClaim | null) => Promise<Created<T>>,
): Promise<CreateAnswer<T> & { isReplay: boolean }> {
  const key = request.headers[HEADER.idempotencyKey.toLowerCase()];
  if (key === undefined) return { ...answerOf(await create(null)), isReplay: false };
  const { claim, answer } = await claimKey(
    { store, clock, waits },
    {
      key,
      principal: principalOf(request),
      route: routeOf(request),
      requestId: request.id,
      bodyDigest: createHash('sha256').update(canonicalJson(request.body)).digest('hex'),
    },
  );
  // Caller, route and body are the same, so the first answer was of this very create.
  if (answer !== null) return { ...(answer as CreateAnswer<T>), isReplay: true };
  let created: Created<T>;
  try {
    created = await create(claim);
  } catch (failure) {
    await store.release(claim);
    throw failure;
  }
  await store.complete(claim, withoutSecrets(created));
  return { ...answerOf(created), isReplay: false };
}

/**
 * True if the request repeats a key that is taken: its answer, or its conflict, asks nobody else. For what a create
 * asks of other services before its transaction.
 */
export async function isRepeat(
  {
    store,
    clock,
  }: { store: { isTaken(scope: string, key: string, since: Date): Promise<boolean> }; clock: Clock },
  request: FastifyRequest,
): Promise<boolean> {
  const key = request.headers[HEADER.idempotencyKey.toLowerCase()];
  if (key === undefined) return false;
  const scope = scopeOf(principalOf(request), routeOf(request));
  return store.isTaken(scope, usableKey(key), new Date(clock.now() - IDEMPOTENCY_KEPT_MS));
}

function routeOf({ method, url }: FastifyRequest): string {
  return `${method} ${url.split('?')[0]}`;
}

function scopeOf(principal: Principal, route: string): string {
  return `${principalId(principal)} ${route}`;
}

interface Claiming {
  store: IdempotencyStore;
  clock: Clock;
  waits?: boolean;
}

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  key: string | string[];
  principal: Principal;
  /** `<method> <path>`. */
  route: string;
  requestId: string;
  bodyDigest: string;
}

/**
 * Takes a request's key: `answer` is what the first request of the key was answered, null where this is the first. Throws
 * ApiError as `idempotent` does.
 */
export async function claimKey(
  { store, clock, waits = false }: Claiming,
  { key, principal, route, requestId: owner, bodyDigest }: KeyedRequest,
): Promise<{ claim: IdempotencyClaim; answer: StoredAnswer | null }> {
  const now = clock.now();
  const scope = scopeOf(principal, route);
  const claim = { scope, key: usableKey(key), bodyDigest, owner, createdAt: new Date(now) };
  const take = (): Promise<IdempotencyRecord | null> =>
    store.claim(claim, new Date(now - IDEMPOTENCY_KEPT_MS), new Date(now - ABANDONED_AFTER_MS));
  let found = await take();
  for (let looks = 0; waits && looks < LOOKS_MAX && isUnderWay(found, claim); looks += 1) {
    await clock.sleep(LOOK_MS);
    found = await take();
  }
  return { claim, answer: found === null ? null : replay(found, claim) };
}

function usableKey(key: string | string[]): string {
  if (typeof key === 'string' && KEY_PATTERN.test(key)) return key;
  const msg = 'An idempotency key has 1 to 255 printable characters and no space.';
  throw new ApiError('validation_error', {
    message: msg,
    details: [{ type: 'idempotency_key_invalid', loc: ['header', 'idempotency-key'], msg }],
  });
}

function isUnderWay(found: IdempotencyRecord | null, { bodyDigest }: IdempotencyClaim): boolean {
  return found !== null && found.answer === null && found.bodyDigest === bodyDigest;
}

function replay(found: IdempotencyRecord, claim: IdempotencyClaim): StoredAnswer {
  if (found.bodyDigest !== claim.bodyDigest) {
    throw new ApiError('conflict', { message: 'This Idempotency-Key was used with another body.' });
  }
  if (found.answer === null) {
    throw new ApiError('conflict', {
      message: 'The first request with this Idempotency-Key is still under way.',
      retryAfterSeconds: 1,
      shouldRetry: true,
    });
  }
  return found.answer;
}

function answerOf<T extends object>({ status, body }: Created<T>): CreateAnswer<T> {
  return { status, body };
}

function withoutSecrets({ status, body, secretFields = [] }: Created): StoredAnswer {
  const shown = Object.entries(body).filter(([name]) => !secretFields.includes(name));
  return { status, body: Object.fromEntries(shown) };
}

/** Member order and white space do not make another body. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}

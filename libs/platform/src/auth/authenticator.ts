import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import {
  ApiError,
  HEADER,
  type AdminKeyPrincipal,
  type Clock,
  type Credential,
  type KeyPrincipal,
  type LimitStore,
  type Principal,
  type PrincipalReader,
  type SessionPrincipal,
} from '@gateway/contracts';
import { noEndpoint } from '../errors/to-api-error.js';
import { applyKeyPin } from '../request/response-headers.js';
import type { AccessRule } from './access.js';
import { isWellFormedSecret, secretDigest } from './secret.js';

export interface AuthenticatorDeps {
  /** Returns the reader on first use: its module is made after the platform. */
  principals: () => PrincipalReader;
  /** Knows the newest version of an account: a record that is older is read again. */
  limits: LimitStore;
  clock: Clock;
  fleetTokens: readonly string[];
  /** Called where a request came with another token than the fleet's: a replica with an old one looks like that. */
  onWrongToken?: (fields: { request_id: string; route: string | undefined; count: number }) => void;
}

/** Wrong tokens fill no log: one line in this time, with the count of those before it. */
const WRONG_TOKEN_EVERY_MS = 1_000;

const FLEET_TOKEN = HEADER.fleetToken.toLowerCase();

/** Finds out who calls and whether the rule lets them in. Every service uses this one. */
export class Authenticator {
  private readonly fleetTokens: readonly Buffer[];
  private reader: PrincipalReader | null = null;
  private wrongTokens = 0;
  private wrongTokenAtMs = -Infinity;

  constructor(private readonly deps: AuthenticatorDeps) {
    this.fleetTokens = deps.fleetTokens.map(sha256);
  }

  /**
   * Authenticates for endpoints that do not admit: the record is compared with the account's newest version. Answers
   * null on public and internal routes. Throws ApiError `unauthorized`, `forbidden`, and
   * `service_unavailable` where the caller could not be looked up.
   */
  async authenticate(request: FastifyRequest, rule: AccessRule): Promise<Principal | null> {
    if (rule.public === true) return null;
    if (rule.internal === true && this.isFleet(request)) return null;
    if (isInternalOnly(rule)) {
      if (request.headers[FLEET_TOKEN] !== undefined) this.noteWrongToken(request);
      throw noEndpoint();
    }
    const credential = credentialOfRequest(request.raw);
    const cached = await this.principals.resolve(credential, request);
    const principal = (await this.isCurrent(cached)) ? cached : await this.principals.reload(credential);
    // Before it is judged: what a known key is refused is answered in its version, too.
    applyKeyPin(request, principal);
    return permit(principal, rule, this.deps.clock);
  }

  /**
   * Authenticates for inference: admission compares the version, so this costs no I/O while the record is cached.
   * `onRefused` is called of a known key that the rule does not let in.
   */
  async authenticateKey(
    request: FastifyRequest,
    rule: AccessRule,
    onRefused?: (principal: KeyPrincipal, rejection: ApiError) => void,
  ): Promise<KeyPrincipal> {
    const credential = credentialOfRequest(request.raw);
    const known = { principal: await this.principals.resolve(credential, request) };
    applyKeyPin(request, known.principal);
    try {
      return asKey(permit(known.principal, rule, this.deps.clock));
    } catch (rejection) {
      if (!(rejection instanceof ApiError)) throw rejection;
      // A rejection must not rest on an old record: the key may have been reactivated since.
      if (!(await this.isCurrent(known.principal)))
        known.principal = await this.principals.reload(credential);
      applyKeyPin(request, known.principal);
      return this.permitted(known.principal, rule, onRefused);
    }
  }

  /**
   * Returns the key of a credential where it is in memory and the rule lets it in. Where it answers null,
   * `authenticateKey` finds out and says why.
   */
  rememberedKey(credential: Credential, rule: AccessRule): KeyPrincipal | null {
    const principal = this.principals.remembered(credential);
    if (principal?.kind !== 'key') return null;
    try {
      permitKey(principal, rule, this.deps.clock);
      return principal;
    } catch {
      return null;
    }
  }

  private get principals(): PrincipalReader {
    return (this.reader ??= this.deps.principals());
  }

  private permitted(
    principal: Principal,
    rule: AccessRule,
    onRefused: ((principal: KeyPrincipal, rejection: ApiError) => void) | undefined,
  ): KeyPrincipal {
    try {
      return asKey(permit(principal, rule, this.deps.clock));
    } catch (rejection) {
      // Past its expiry a key is as good as unknown, and of an unknown one nothing is written.
      if (principal.kind === 'key' && rejection instanceof ApiError && rejection.status !== 401)
        onRefused?.(principal, rejection);
      throw rejection;
    }
  }

  /** Compares in constant time; both sides are hashed first, so that lengths do not show either. */
  isFleet(request: FastifyRequest): boolean {
    const token = request.headers[FLEET_TOKEN];
    if (typeof token !== 'string') return false;
    const given = sha256(token);
    return this.fleetTokens.some((accepted) => timingSafeEqual(given, accepted));
  }

  private noteWrongToken({ id, routeOptions }: FastifyRequest): void {
    this.wrongTokens += 1;
    const nowMs = this.deps.clock.monotonic();
    if (nowMs - this.wrongTokenAtMs < WRONG_TOKEN_EVERY_MS) return;
    this.deps.onWrongToken?.({ request_id: id, route: routeOptions.url, count: this.wrongTokens });
    this.wrongTokens = 0;
    this.wrongTokenAtMs = nowMs;
  }

  /**
   * Counts the record as old where the store cannot be asked, or cannot vouch for a version: the reader revalidates it.
   */
  private async isCurrent(principal: Principal): Promise<boolean> {
    try {
      const newest = await this.deps.limits.version(principal.accountId);
      return newest !== null && newest <= principal.accountVersion;
    } catch {
      return false;
    }
  }
}

/**
 * Checks a known caller against a rule and answers it again. Throws ApiError `unauthorized` past `expires_at`,
 * `forbidden` for a suspended key, a missing scope, or a kind of credential that the rule does not name.
 */
export function permit(principal: Principal, rule: AccessRule, clock: Clock): Principal {
  switch (principal.kind) {
    case 'key':
      return permitKey(principal, rule, clock);
    case 'admin_key':
      return permitAdminKey(principal, rule, clock);
    case 'session':
      return permitSession(principal, rule);
  }
}

function permitKey(principal: KeyPrincipal, rule: AccessRule, clock: Clock): Principal {
  if (principal.expiresAtMs !== null && principal.expiresAtMs <= clock.now())
    throw new ApiError('unauthorized');
  if (principal.status === 'suspended') throw new ApiError('forbidden', { message: 'The key is suspended.' });
  if (rule.key === undefined) throw new ApiError('forbidden', { message: insteadOf('An API key', rule) });
  if (rule.key !== true) requireScope(principal.permissions, rule.key.permission);
  return principal;
}

function permitAdminKey(principal: AdminKeyPrincipal, rule: AccessRule, clock: Clock): Principal {
  if (principal.expiresAtMs !== null && principal.expiresAtMs <= clock.now())
    throw new ApiError('unauthorized');
  if (rule.adminKey === undefined)
    throw new ApiError('forbidden', { message: insteadOf('An admin key', rule) });
  requireScope(principal.scopes, rule.adminKey.scope);
  return principal;
}

function permitSession(principal: SessionPrincipal, rule: AccessRule): Principal {
  if (rule.session === true || (rule.superAdmin === true && principal.isSuperAdmin)) return principal;
  const message =
    rule.superAdmin === true ? 'Only a super admin may do this.' : insteadOf('A session token', rule);
  throw new ApiError('forbidden', { message });
}

/** Returns the rejection of a kind of credential, with the kinds that the endpoint takes. */
function insteadOf(refused: string, { key, session, adminKey }: AccessRule): string {
  const taken = [
    ...(session === true ? ['a session token (POST /auth/login)'] : []),
    ...(adminKey === undefined ? [] : [`an admin key (mak_…) with ${adminKey.scope}`]),
    ...(key === undefined ? [] : ['an API key (rsk_…)']),
  ];
  return taken.length === 0
    ? `${refused} may not do this.`
    : `${refused} may not do this. Use ${taken.join(' or ')}.`;
}

/** null = everything an inference key may do. */
function requireScope(granted: readonly string[] | null, needed: string): void {
  if (granted !== null && !granted.includes(needed)) {
    throw new ApiError('forbidden', { message: `The credential lacks the scope ${needed}.` });
  }
}

function asKey(principal: Principal): KeyPrincipal {
  if (principal.kind !== 'key')
    throw new ApiError('forbidden', { message: 'This endpoint takes an API key.' });
  return principal;
}

/** True for a route of the fleet's own, which answers from outside as if it did not exist. */
function isInternalOnly(rule: AccessRule): boolean {
  return (
    rule.key === undefined &&
    rule.session === undefined &&
    rule.adminKey === undefined &&
    rule.superAdmin === undefined
  );
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const JWT_PATTERN = /^[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]+$/;
/** A session token holds a handful of claims; a longer one is not ours and is not worth a lookup. */
const TOKEN_MAX_LENGTH = 4_096;

/**
 * Parses the presented credential: `Authorization: Bearer <…>` or, as the Anthropic SDKs send it, `x-api-key`. Form and
 * checksum are checked here. Throws ApiError `unauthorized` where it is missing or malformed.
 */
export function parseCredential(headers: IncomingHttpHeaders): Credential {
  return credentialOf(presented(headers));
}

/** The credential that a connection presented last. */
interface Presented {
  authorization: string | undefined;
  apiKey: string | string[] | undefined;
  credential: Credential;
}

/** One per connection, forgotten with it. */
const presentedLast = new WeakMap<Socket, Presented>();

/**
 * The same for a request. A kept connection that presents the same text again gets the same Credential object, without
 * checking and hashing it once more. Says nothing of the principal, which is looked up for every request.
 */
export function credentialOfRequest(request: { headers: IncomingHttpHeaders; socket: Socket }): Credential {
  const { headers, socket } = request;
  const { authorization, 'x-api-key': apiKey } = headers;
  const last = presentedLast.get(socket);
  if (last !== undefined && last.authorization === authorization && last.apiKey === apiKey)
    return last.credential;
  const credential = parseCredential(headers);
  presentedLast.set(socket, { authorization, apiKey, credential });
  return credential;
}

/** The same for text that came another way, for example a realtime subprotocol. */
export function credentialOf(text: string): Credential {
  if (text.startsWith('rsk_') || text.startsWith('mak_')) {
    if (!isWellFormedSecret(text)) throw new ApiError('unauthorized');
    const digest = secretDigest(text);
    return text.startsWith('rsk_') ? { kind: 'key', digest } : { kind: 'admin_key', digest };
  }
  if (text.length > TOKEN_MAX_LENGTH || !JWT_PATTERN.test(text)) throw new ApiError('unauthorized');
  return { kind: 'session', token: text };
}

function presented(headers: IncomingHttpHeaders): string {
  const { authorization } = headers;
  if (authorization !== undefined) {
    const match = /^bearer +(\S+) *$/i.exec(authorization);
    if (match === null) throw new ApiError('unauthorized');
    return match[1];
  }
  const apiKey = headers['x-api-key'];
  if (typeof apiKey !== 'string') throw new ApiError('unauthorized');
  return apiKey.trim();
}

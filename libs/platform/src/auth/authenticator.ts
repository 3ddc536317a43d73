import { timingSafeEqual, createHash } from 'node:crypto';
import {
  ApiError,
  HEADER,
  type AdminKeyPrincipal,
  type Clock,
  type KeyPrincipal,
  type LimitStore,
  type Principal,
  type PrincipalReader,
  type SessionPrincipal,
} from '@gateway/contracts';
import type { FastifyRequest } from 'fastify';
import { noEndpoint } from '../errors/to-api-error.js';
import type { AccessRule } from './access.js';
import { applyKeyPin } from '../request/response-headers.js';
import { credentialOfRequest } from './credential.js';

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
    onRefused?: (principal: KeyPrincipal, refusal: ApiError) => void,
  ): Promise<KeyPrincipal> {
    const credential = credentialOfRequest(request.raw);
    const known = { principal: await this.principals.resolve(credential, request) };
    applyKeyPin(request, known.principal);
    try {
      return asKey(permit(known.principal, rule, this.deps.clock));
    } catch (refusal) {
      if (!(refusal instanceof ApiError)) throw refusal;
      // A refusal must not rest on an old record: the key may have been reactivated since.
      if (!(await this.isCurrent(known.principal)))
        known.principal = await this.principals.reload(credential);
      applyKeyPin(request, known.principal);
      return this.permitted(known.principal, rule, onRefused);
    }
  }

  private get principals(): PrincipalReader {
    return (this.reader ??= this.deps.principals());
  }

  private permitted(
    principal: Principal,
    rule: AccessRule,
    onRefused: ((principal: KeyPrincipal, refusal: ApiError) => void) | undefined,
  ): KeyPrincipal {
    try {
      return asKey(permit(principal, rule, this.deps.clock));
    } catch (refusal) {
      // Past its expiry a key is as good as unknown, and of an unknown one nothing is written.
      if (principal.kind === 'key' && refusal instanceof ApiError && refusal.status !== 401)
        onRefused?.(principal, refusal);
      throw refusal;
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

/** Returns the refusal of a kind of credential, with the kinds that the endpoint takes. */
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
function requireScope(held: readonly string[] | null, needed: string): void {
  if (held !== null && !held.includes(needed)) {
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

import { createHash, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { ApiError, type Clock, type Random } from '@gateway/contracts';
import { CLOCK, RANDOM, unavailable } from '@gateway/platform';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { KeysConfig } from '../keys.config.js';

const TIMEOUT_MS = 10_000;
const ANSWER_MAX_BYTES = 1_048_576;

type JsonAnswer = Readonly<Record<string, unknown>>;

/** Asks an address that the operator set: bounded in time and size, no redirect followed. Rejects for what is no JSON object. */
async function askJson(
  url: string,
  init: { method?: 'POST'; headers?: Record<string, string>; body?: string },
): Promise<{ status: number; body: JsonAnswer }> {
  const answer = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += part.length;
    if (bytes > ANSWER_MAX_BYTES) throw new Error('The answer is too large.');
    parts.push(part);
  }
  const parsed: unknown = answer.status === 200 ? JSON.parse(Buffer.concat(parts).toString('utf8')) : {};
  if (typeof parsed !== 'object' || parsed === null) throw new Error('The answer is no JSON object.');
  return { status: answer.status, body: { ...parsed } };
}

/** Signatures that only the provider can make: none by a secret that we hold, too. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const CLOCK_TOLERANCE_SECONDS = 60;
const GROUPS_MAX = 1_000;
const SECRET_BYTES = 32;

/** The state of a login from its begin to its return. */
export interface Begun {
  state: string;
  nonce: string;
  verifier: string;
}

/** The person whom the provider vouches for. */
export interface Vouched {
  issuer: string;
  subject: string;
  email: string | null;
  isEmailVerified: boolean;
  name: string | null;
  groups: string[];
}

interface Endpoints {
  issuer: string;
  authorize: string;
  token: string;
  userinfo: string;
  jwks: string;
}

/** The operator's identity provider: the code flow with PKCE, state and nonce; groups come from userinfo. */
@Injectable()
export class IdentityProvider {
  private asking: Promise<Endpoints> | null = null;

  constructor(
    private readonly config: KeysConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Returns the text of the button; null where no provider is set up. */
  get name(): string | null {
    const { OIDC_ISSUER: issuer, OIDC_NAME: name } = this.config;
    return issuer === undefined ? null : (name ?? new URL(issuer).host);
  }

  /** Returns the address for the browser. Throws ApiError `not_found` where none is set up, `service_unavailable`. */
  async begin(): Promise<{ url: URL; begun: Begun }> {
    const { authorize } = await this.endpoints();
    const [state, nonce, verifier] = [this.secret(), this.secret(), this.secret()];
    const url = new URL(authorize);
    const parameters = {
      response_type: 'code',
      client_id: this.config.OIDC_CLIENT_ID ?? '',
      redirect_uri: this.redirectUri,
      scope: this.config.OIDC_SCOPE,
      state,
      nonce,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return { url, begun: { state, nonce, verifier } };
  }

  /** `query` is what the provider sent the browser back with. Throws ApiError `unauthorized`, `service_unavailable`. */
  async complete(query: URLSearchParams, begun: Begun): Promise<Vouched> {
    const code = query.get('code');
    const from = query.get('iss');
    const isFromIssuer = from === null || from === this.config.OIDC_ISSUER;
    if (!isSame(query.get('state') ?? '', begun.state) || !isFromIssuer || code === null) throw refused();
    const endpoints = await this.endpoints();
    const tokens = await this.exchange(endpoints, code, begun.verifier);
    const { id_token: idToken, access_token: accessToken } = tokens;
    if (typeof idToken !== 'string' || typeof accessToken !== 'string') throw refused();
    const { subject, claims } = await this.verify(endpoints, idToken, begun.nonce);
    const info = await this.ask(endpoints.userinfo, { headers: { authorization: `Bearer ${accessToken}` } });
    // Another person's userinfo would be a token mixed up on the way (OpenID Connect Core, 5.3.2).
    if (info.sub !== subject) throw refused();
    const { OIDC_GROUPS_CLAIM: groupsClaim } = this.config;
    return vouched(endpoints.issuer, subject, { ...claims, ...info }, groupsClaim);
  }

  private get redirectUri(): string {
    return `${this.config.KEYS_PUBLIC_URL}/auth/oidc/callback`;
  }

  /**
   * Reads the endpoints at each login, once for concurrent ones: logins are rare, and a provider moves its endpoints
   * and keys.
   */
  private endpoints(): Promise<Endpoints> {
    this.asking ??= this.discover().finally(() => {
      this.asking = null;
    });
    return this.asking;
  }

  private async discover(): Promise<Endpoints> {
    const configured = this.config.OIDC_ISSUER;
    if (configured === undefined) throw new ApiError('not_found');
    const base = configured.replace(/\/$/, '');
    const found = await this.ask(`${base}/.well-known/openid-configuration`, {});
    const { issuer, authorization_endpoint, token_endpoint, userinfo_endpoint, jwks_uri } = found;
    // A document of another issuer would vouch for its people in this one's name.
    if (issuer !== configured) throw unavailable(this.random, new Error('OIDC_ISSUER names another issuer.'));
    const text = (value: unknown): string => {
      const protocol = typeof value === 'string' && URL.canParse(value) ? new URL(value).protocol : '';
      // Nothing but https, or http where the operator trusts the issuer itself by http.
      if (protocol === 'https:' || protocol === new URL(configured).protocol) return String(value);
      throw unavailable(this.random, new Error('The identity provider’s configuration lacks an endpoint.'));
    };
    return {
      issuer: configured,
      authorize: text(authorization_endpoint),
      token: text(token_endpoint),
      userinfo: text(userinfo_endpoint),
      jwks: text(jwks_uri),
    };
  }

  private exchange({ token }: Endpoints, code: string, verifier: string): Promise<JsonAnswer> {
    const { OIDC_CLIENT_ID: id = '', OIDC_CLIENT_SECRET: secret } = this.config;
    const form = { grant_type: 'authorization_code', code, redirect_uri: this.redirectUri };
    const body = new URLSearchParams({ ...form, code_verifier: verifier });
    const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
    if (secret === undefined) body.set('client_id', id);
    else headers.authorization = `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}`;
    return this.ask(token, { method: 'POST', headers, body: body.toString() });
  }

  private async verify(
    { issuer, jwks }: Endpoints,
    idToken: string,
    nonce: string,
  ): Promise<{ subject: string; claims: JsonAnswer }> {
    const keys = this.keySet(await this.ask(jwks, {}));
    const { OIDC_CLIENT_ID: clientId } = this.config;
    try {
      const { payload } = await jwtVerify(idToken, keys, {
        algorithms: ALGORITHMS,
        issuer,
        audience: clientId,
        requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(this.clock.now()),
      });
      const isNonce = typeof payload.nonce === 'string' && isSame(payload.nonce, nonce);
      const isOurs = isNonce && (payload.azp === undefined || payload.azp === clientId);
      if (!isOurs || payload.sub === undefined || payload.sub === '') throw refused();
      return { subject: payload.sub, claims: payload };
    } catch (failure) {
      throw failure instanceof ApiError ? failure : refused(failure);
    }
  }

  private keySet(answer: JsonAnswer): ReturnType<typeof createLocalJWKSet> {
    try {
      return createLocalJWKSet(answer as unknown as JSONWebKeySet);
    } catch (failure) {
      throw unavailable(this.random, failure);
    }
  }

  /** A code that the provider refuses is 401; a provider that is away, or does not know this client, is 503, never a 401. */
  private async ask(url: string, init: Parameters<typeof askJson>[1]): Promise<JsonAnswer> {
    let answer: Awaited<ReturnType<typeof askJson>>;
    try {
      answer = await askJson(url, init);
    } catch (failure) {
      throw unavailable(this.random, failure);
    }
    if (init.method === 'POST' && answer.status === 400) throw refused();
    if (answer.status !== 200) throw unavailable(this.random, new Error(`It answered ${answer.status}.`));
    return answer.body;
  }

  private secret(): string {
    return Buffer.from(this.random.bytes(SECRET_BYTES)).toString('base64url');
  }
}

function vouched(issuer: string, subject: string, claims: JsonAnswer, groupsClaim: string): Vouched {
  const { email, email_verified: isVerified, name, [groupsClaim]: groups } = claims;
  const given: unknown[] = Array.isArray(groups) ? groups.slice(0, GROUPS_MAX) : [groups];
  return {
    issuer,
    subject,
    email: typeof email === 'string' && email.length <= 254 ? email.toLowerCase() : null,
    // Some providers write it as text.
    isEmailVerified: isVerified === true || isVerified === 'true',
    name: typeof name === 'string' && name !== '' ? name.slice(0, 200) : null,
    groups: given.filter((group) => typeof group === 'string'),
  };
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(a, b);
}

function refused(cause?: unknown): ApiError {
  const message = 'The identity provider did not let this login through.';
  return new ApiError('unauthorized', { message, cause });
}

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

export const CLIENT = { id: 'gateway', secret: 'secret of the client' };

export interface FakeProvider {
  issuer: string;
  /** Person that it logs in, as userinfo reports; the id_token says `sub` only. */
  person: Record<string, unknown> & { sub: string };
  /** Changes what the id_token says. */
  idToken: Record<string, unknown>;
  /** Status of every answer in place of its own; null for none. */
  status: number | null;
  /** Fills every answer with blanks up to this size. */
  bytes: number;
  /** Logs the person in: from the address of `start` to that of the callback. */
  authorize(url: string): string;
  close(): Promise<void>;
}

/** An identity provider that checks what it is sent: client, redirect address, PKCE, and each code once. */
export async function startIdentityProvider(redirectUri: string, now: () => number): Promise<FakeProvider> {
  const keys = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' };
  const codes = new Map<string, URLSearchParams>();
  const server = createServer((request, reply) => {
    void answer(request).then(({ status, body }) => {
      reply.writeHead(provider.status ?? status, { 'content-type': 'application/json' });
      reply.end(JSON.stringify(body).padEnd(provider.bytes));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: FakeProvider = {
    issuer,
    person: { sub: 'subject-1' },
    idToken: {},
    status: null,
    bytes: 0,
    authorize: (url) => {
      const asked = new URL(url).searchParams;
      expect([asked.get('response_type'), asked.get('code_challenge_method')]).toEqual(['code', 'S256']);
      expect([asked.get('client_id'), asked.get('redirect_uri')]).toEqual([CLIENT.id, redirectUri]);
      const code = `code-${codes.size}-${now()}`;
      codes.set(code, asked);
      const back = new URLSearchParams({ code, state: asked.get('state') ?? '', iss: issuer });
      return `/auth/oidc/callback?${back.toString()}`;
    },
    close: () => new Promise((done) => server.close(() => done())),
  };
  return provider;

  async function answer(request: IncomingMessage): Promise<{ status: number; body: object }> {
    switch (request.url) {
      case '/.well-known/openid-configuration':
        return { status: 200, body: configuration(issuer) };
      case '/jwks':
        return { status: 200, body: { keys: [jwk] } };
      case '/userinfo':
        return {
          status: request.headers.authorization === 'Bearer access' ? 200 : 401,
          body: provider.person,
        };
      default:
        return token(request);
    }
  }

  async function token(request: IncomingMessage): Promise<{ status: number; body: object }> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const form = new URLSearchParams(Buffer.concat(parts).toString('utf8'));
    const asked = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const credentials = btoa(`${CLIENT.id}:${encodeURIComponent(CLIENT.secret)}`);
    const isRight =
      request.headers.authorization === `Basic ${credentials}` &&
      form.get('redirect_uri') === redirectUri &&
      asked?.get('code_challenge') === challenge;
    if (!isRight) return { status: 400, body: { error: 'invalid_grant' } };
    const seconds = Math.floor(now() / 1000);
    const claims = { iss: issuer, aud: CLIENT.id, sub: provider.person.sub, nonce: asked.get('nonce') };
    const id_token = await new SignJWT({ ...claims, iat: seconds, exp: seconds + 300, ...provider.idToken })
      .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
      .sign(keys.privateKey);
    return { status: 200, body: { access_token: 'access', token_type: 'Bearer', id_token } };
  }
}

function configuration(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
  };
}

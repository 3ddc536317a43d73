import { createHmac, generateKeyPairSync } from 'node:crypto';
import { applyMigrations } from '@gateway/database';
import { fixedClock, testDatabase, type FixedClock, type TestDatabase } from '@gateway/testing';
import { decodeProtectedHeader, importJWK, jwtVerify, SignJWT, type JWK } from 'jose';
import { startKeysApp, type Answer, type KeysApp } from '../keys-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/keys-database.js';
import { SigningKeys } from './signing-keys.js';

let database: TestDatabase;
let keys: KeysApp;
let clock: FixedClock;
const logged: string[] = [];

beforeAll(async () => {
  const migrate = async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  };
  database = await testDatabase({ schemaDir: SCHEMA_DIR, migrate });
  clock = fixedClock('2026-11-21T12:00:00.000Z');
  keys = await startKeysApp(database.url, { clock, logTo: { write: (line) => void logged.push(line) } });
});

afterAll(async () => {
  await keys?.close();
  await database?.drop();
});

const login = (password = keys.first.admin.password, email = keys.first.admin.email): Promise<Answer> =>
  keys.call('POST', '/auth/login', { body: { email, password } });

function cookieOf(answer: Answer): string {
  return /__Host-refresh=([^;]*)/.exec(answer.headers['set-cookie'] ?? '')?.[1] ?? '';
}

const me = (token: string): Promise<Answer> => keys.call('GET', '/auth/me', { as: token });

describe('POST /auth/login', () => {
  it('AUTH-22 AUTH-24 answers a bearer token and sets the refresh cookie; GET /auth/me names the caller', async () => {
    const answer = await login();
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).sort()).toEqual(['expires_at', 'token', 'token_type', 'user']);
    expect(answer.body).toMatchObject({ token_type: 'Bearer', expires_at: '2026-11-21T12:15:00.000Z' });
    const cookie = answer.headers['set-cookie'];
    expect(cookie).toMatch(
      /^__Host-refresh=[\w-]{43}; Max-Age=2592000; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    );
    const { body } = await me(String(answer.body.token));
    expect(body).toEqual({
      user: {
        id: keys.admin.userId,
        email: keys.first.admin.email,
        name: 'Administrator',
        time_zone: null,
        locale: null,
      },
      memberships: [{ org_id: keys.first.orgId, role: 'owner', teams: [] }],
      is_super_admin: true,
    });
  });

  it('AUTH-22 401 in the same words for a wrong password and an unknown address', async () => {
    const [wrong, unknown] = [await login('wrong'), await login('wrong', 'nobody@example.com')];
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.body.error).toEqual(unknown.body.error);
  });

  it('429 after five failures of one address, known or not, with a wait that doubles', async () => {
    const email = 'guessed@example.com';
    for (let n = 0; n < 5; n += 1) expect((await login('guess', email)).status).toBe(401);
    for (const seconds of [1, 2, 4]) {
      const refused = await login('guess', email);
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, String(seconds)]);
      await clock.advance(seconds * 1_000);
      expect((await login('guess', email)).status).toBe(401);
    }
  });
});

describe('the log', () => {
  it('S01 says who logged in and out, who was refused and whose refresh token came again, and from where', async () => {
    logged.length = 0;
    await login('wrong');
    await login('wrong', 'nobody@example.com');
    const stolen = cookieOf(await login());
    await keys.call('POST', '/auth/refresh', { body: { refresh_token: stolen } });
    await clock.advance(31_000);
    await keys.call('POST', '/auth/refresh', { body: { refresh_token: stolen } });
    const { body } = await login();
    await keys.call('POST', '/auth/logout', { as: String(body.token) });
    const lines = logged
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ ip }) => ip !== undefined)
      .map(({ msg, user_id, session_id, ip }) => ({ msg, user_id, session_id, ip }));
    const { userId: user_id } = keys.admin;
    const session_id = expect.stringMatching(/^ses_/) as string;
    const ip = '127.0.0.1';
    expect(lines).toEqual([
      { msg: 'a login was refused', user_id, session_id: undefined, ip },
      { msg: 'a login was refused', user_id: null, session_id: undefined, ip },
      { msg: 'logged in', user_id, session_id, ip },
      { msg: 'a used refresh token came again', user_id, session_id, ip },
      { msg: 'logged in', user_id, session_id, ip },
      { msg: 'logged out', user_id, session_id, ip },
    ]);
    expect(lines[3].session_id).toBe(lines[2].session_id);
    expect(lines[5].session_id).toBe(lines[4].session_id);
    // What proves who somebody is, and what a caller typed, is in none.
    const secrets = [keys.first.admin.password, stolen, String(body.token), 'nobody@example.com'];
    expect(secrets.filter((secret) => logged.join('').includes(secret))).toEqual([]);
  });
});

describe('session token', () => {
  it('AUTH-28 AUTH-29 is an EdDSA JWT with typ at+jwt that the published keys verify, and lives 15 minutes', async () => {
    const { body } = await login();
    const token = String(body.token);
    const jwks = await keys.call('GET', '/.well-known/jwks.json');
    const [jwk] = jwks.body.keys as JWK[];
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid: jwk.kid });
    expect(jwk).not.toHaveProperty('d');
    const currentDate = new Date(clock.now());
    const { payload } = await jwtVerify(token, await importJWK(jwk, 'EdDSA'), { currentDate });
    expect(Object.keys(payload).sort()).toEqual(['aud', 'epoch', 'exp', 'iat', 'iss', 'sid', 'sub']);
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(900);
    await clock.advance(15 * 60_000);
    expect((await me(token)).status).toBe(200); // Within the tolerance of clocks.
    await clock.advance(6_000);
    expect((await me(token)).status).toBe(401);
  });

  it('AUTH-28 during a rotation two keys are published and both verify; 20 minutes later one is left', async () => {
    const old = String((await login()).body.token);
    await keys.app.get(SigningKeys, { strict: false }).rotate();
    const fresh = String((await login()).body.token);
    expect(decodeProtectedHeader(old).kid).not.toBe(decodeProtectedHeader(fresh).kid);
    expect([(await me(old)).status, (await me(fresh)).status]).toEqual([200, 200]);
    expect((await keys.call('GET', '/.well-known/jwks.json')).body.keys).toHaveLength(2);
    await clock.advance(20 * 60_000 + 1);
    expect((await keys.call('GET', '/.well-known/jwks.json')).body.keys).toHaveLength(1);
  });

  it('AUTH-28 on schedule the key is replaced when it is 30 days old, by one of two processes', async () => {
    const signing = keys.app.get(SigningKeys, { strict: false });
    const days = (n: number): number => n * 86_400_000;
    expect(await signing.rotateOlderThan(days(30))).toBe(false);
    clock.step(new Date(clock.now() + days(30)).toISOString());
    const rotated = await Promise.all([signing.rotateOlderThan(days(30)), signing.rotateOlderThan(days(30))]);
    expect(rotated.sort()).toEqual([false, true]);
    expect((await keys.call('GET', '/.well-known/jwks.json')).body.keys).toHaveLength(2);
    await clock.advance(20 * 60_000 + 1);
  });

  it('K03 every forgery is 401', async () => {
    const token = String((await login()).body.token);
    const [head, payload, signature] = token.split('.');
    const header = decodeProtectedHeader(token);
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<string, unknown>;
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const own = generateKeyPairSync('ed25519');
    const signed = (change: object, more: object = {}): Promise<string> =>
      new SignJWT({ ...claims, ...change })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: header.kid, ...more })
        .sign(own.privateKey);
    const ownJwk = own.publicKey.export({ format: 'jwk' });
    const { x } = ((await keys.call('GET', '/.well-known/jwks.json')).body.keys as JWK[])[0];
    const hs = (input: string): string =>
      `${input}.${createHmac('sha256', Buffer.from(x ?? '', 'base64url'))
        .update(input)
        .digest('base64url')}`;
    const resigned = await genuine();
    const forgeries: Record<string, string> = {
      'alg none': `${encode({ ...header, alg: 'none' })}.${payload}.x`,
      'HS256 with the public key': hs(`${encode({ ...header, alg: 'HS256' })}.${payload}`),
      'another key': await signed({}),
      'an embedded jwk': await signed({}, { jwk: ownJwk }),
      'a jku': await signed({}, { jku: 'https://evil.example/jwks.json' }),
      'an x5u': await signed({}, { x5u: 'https://evil.example/x5u' }),
      'an unknown kid': await signed({}, { kid: '00000000-0000-7000-8000-000000000000' }),
      'a kid that is a path': await signed({}, { kid: '../../etc/passwd' }),
      'no kid': await signed({}, { kid: undefined }),
      'changed claims': `${head}.${encode({ ...claims, sub: 'usr_other' })}.${signature}`,
      'a short signature': `${head}.${payload}.AA`,
      'an empty signature': `${head}.${payload}.`,
      'no signature': `${head}.${payload}`,
      'alg none without a signature': `${encode({ ...header, alg: 'none' })}.${payload}.`,
      'alg in another case': `${encode({ ...header, alg: 'eddsa' })}.${payload}.${signature}`,
      'ES256 in the header': `${encode({ ...header, alg: 'ES256' })}.${payload}.${signature}`,
      'an ES256 signature': await new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: header.kid })
        .sign(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
      'a crit that nobody knows': `${encode({ ...header, crit: ['b64'], b64: false })}.${payload}.${signature}`,
      'a refresh token': cookieOf(await login()),
      ...resigned,
    };
    expect(Object.keys(forgeries).length).toBeGreaterThan(20);
    for (const [name, forged] of Object.entries(forgeries)) {
      expect([name, (await me(forged)).status]).toEqual([name, 401]);
    }
    expect((await me(token)).status).toBe(200);

    /** Signed by our own key, each with one claim or type that is not right. */
    async function genuine(): Promise<Record<string, string>> {
      const { kid, key } = await keys.app.get(SigningKeys, { strict: false }).current();
      const issue = (change: Record<string, unknown>, typ = 'at+jwt'): Promise<string> =>
        new SignJWT({ ...claims, ...change }).setProtectedHeader({ alg: 'EdDSA', typ, kid }).sign(key);
      return {
        'wrong iss': await issue({ iss: 'another' }),
        'wrong aud': await issue({ aud: 'another' }),
        'no iss': await issue({ iss: undefined }),
        'no aud': await issue({ aud: undefined }),
        'no exp': await issue({ exp: undefined }),
        'an exp long past': await issue({ exp: 1 }),
        'an exp that is text': await issue({ exp: '9999999999' }),
        'an nbf to come': await issue({ nbf: Math.floor(clock.now() / 1_000) + 3_600 }),
        'no sub': await issue({ sub: undefined }),
        'no sid': await issue({ sid: undefined }),
        'no epoch': await issue({ epoch: undefined }),
        'another sid': await issue({ sid: 'ses_other' }),
        'another epoch': await issue({ epoch: 2 }),
        'another typ': await issue({}, 'JWT'),
      };
    }
  });

  it('AUTH-29 a role that changes and a person who is disabled take effect on a token already issued', async () => {
    const person = await keys.person({ orgId: keys.first.orgId, role: 'member' });
    const { prisma } = keys.database;
    const org_id_user_id = { org_id: keys.first.orgId, user_id: person.userId };
    await prisma.membership.update({ where: { org_id_user_id }, data: { role: 'admin' } });
    expect((await me(person.token)).body.memberships).toEqual([expect.objectContaining({ role: 'admin' })]);
    await prisma.membership.update({
      where: { org_id_user_id },
      data: { removed_at: new Date(clock.now()) },
    });
    expect((await me(person.token)).body.memberships).toEqual([]);
    await prisma.user.update({ where: { id: person.userId }, data: { epoch: { increment: 1 } } });
    expect((await me(person.token)).status).toBe(401);
  });
});

describe('POST /auth/refresh and /auth/logout', () => {
  const refresh = (refresh_token: string): Promise<Answer> =>
    keys.call('POST', '/auth/refresh', { body: { refresh_token } });

  it('AUTH-23 answers a new token and the next refresh token; logout is 204 and ends the session', async () => {
    const first = await login();
    const second = await refresh(cookieOf(first));
    expect(second.status).toBe(200);
    expect(cookieOf(second)).not.toBe(cookieOf(first));
    const ended = await keys.call('POST', '/auth/logout', { body: { refresh_token: cookieOf(second) } });
    expect([ended.status, cookieOf(ended)]).toEqual([204, '']);
    expect((await me(String(first.body.token))).status).toBe(401);
    expect((await refresh(cookieOf(second))).status).toBe(401);
  });

  it('AUTH-23 logout takes the session token too, without a body', async () => {
    const { body } = await login();
    const token = String(body.token);
    expect((await keys.call('POST', '/auth/logout', { as: token })).status).toBe(204);
    expect((await me(token)).status).toBe(401);
  });

  it('K11 a used refresh token that comes again after 30 s ends its whole session', async () => {
    const first = await login();
    const second = await refresh(cookieOf(first));
    await clock.advance(30_001);
    expect((await refresh(cookieOf(first))).status).toBe(401);
    expect((await refresh(cookieOf(second))).status).toBe(401);
    expect((await me(String(second.body.token))).status).toBe(401);
  });

  it('two tabs at once, and a reload in mid-refresh, stay signed in: all get the same next token', async () => {
    const token = cookieOf(await login());
    const answers = await Promise.all([refresh(token), refresh(token), refresh(token)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(cookieOf)).size).toBe(1);
    // One tab goes on twice before the other, which still has the first cookie, comes.
    const next = cookieOf(await refresh(cookieOf(answers[0])));
    await clock.advance(29_000);
    expect(cookieOf(await refresh(token))).toBe(next);
    expect((await refresh(next)).status).toBe(200);
  });

  it('S05 the cookie counts from our own origin only', async () => {
    const cookie = `__Host-refresh=${cookieOf(await login())}`;
    const ask = (headers: Record<string, string>): Promise<Answer> =>
      keys.call('POST', '/auth/refresh', { headers: { host: 'gateway.example', cookie, ...headers } });
    const evil = 'https://evil.example';
    expect((await ask({ origin: evil })).status).toBe(403);
    expect((await ask({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await ask({ origin: evil, 'sec-fetch-site': 'same-origin' })).status).toBe(403);
    expect((await ask({})).status).toBe(403);
    expect((await ask({ origin: 'https://gateway.example', 'sec-fetch-site': 'same-origin' })).status).toBe(
      200,
    );
  });

  it('S05 issue 16 behind an edge, our own origin is the host that the browser named there', async () => {
    const cookie = `__Host-refresh=${cookieOf(await login())}`;
    const ask = (origin: string, forwarded: string): Promise<Answer> => {
      const headers = { host: 'keys:8081', 'x-forwarded-host': forwarded, cookie, origin };
      return keys.call('POST', '/auth/refresh', { headers: { ...headers, 'sec-fetch-site': 'same-origin' } });
    };
    expect((await ask('https://evil.example', 'gateway.example')).status).toBe(403);
    expect((await ask('http://keys:8081', 'gateway.example')).status).toBe(403);
    expect((await ask('https://gateway.example', 'gateway.example')).status).toBe(200);
  });

  it('a session ends by itself after 30 days', async () => {
    const token = cookieOf(await login());
    // Only the wall clock: a month of the service's own rounds would take minutes.
    clock.step(new Date(clock.now() + 30 * 86_400_000 + 1).toISOString());
    expect((await refresh(token)).status).toBe(401);
  });
});

import { applyMigrations } from '@gateway/database';
import { testDatabase, type TestDatabase } from '@gateway/testing';
import { startKeysApp, type Answer, type KeysApp } from '../keys-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/keys-database.js';
import { CLIENT, startIdentityProvider, type FakeProvider } from './identity-provider.fixture.js';

const PUBLIC_URL = 'https://gateway.example.com';

let database: TestDatabase;
let keys: KeysApp;
let provider: FakeProvider;
let org: { orgId: string; accountId: string };

beforeAll(async () => {
  const migrate = async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  };
  database = await testDatabase({ schemaDir: SCHEMA_DIR, migrate });
  provider = await startIdentityProvider(`${PUBLIC_URL}/auth/oidc/callback`, () => Date.now());
  const config = {
    KEYS_PUBLIC_URL: PUBLIC_URL,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
    OIDC_NAME: 'Example SSO',
  };
  keys = await startKeysApp(database.url, { config });
  org = await keys.org(await keys.person());
  keys.config.OIDC_GROUP_ROLES = `eng=${org.orgId}:member,leads=${org.orgId}:admin,ops=super_admin`;
});
beforeEach(() => {
  provider.idToken = {};
  provider.status = null;
  provider.bytes = 0;
});
afterAll(async () => {
  await keys?.close();
  await provider?.close();
  await database?.drop();
});

/** Begins a login: the address of the provider, and the cookie that the browser keeps. */
async function begin(): Promise<{ url: string; cookie: string }> {
  const answer = await keys.call('GET', '/auth/oidc/start');
  expect([answer.status, answer.headers['cache-control']]).toEqual([302, 'no-store']);
  expect(answer.headers['set-cookie']).toMatch(/; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
  const cookie = (answer.headers['set-cookie'] ?? '').split(';')[0];
  return { url: answer.headers.location ?? '', cookie };
}

async function login(person: Record<string, unknown> & { sub: string }): Promise<Answer> {
  provider.person = person;
  const { url, cookie } = await begin();
  return keys.call('GET', provider.authorize(url), { headers: { cookie } });
}

/** Returns the person that the dashboard reads by the refresh cookie. */
async function meOf(answer: Answer): Promise<Record<string, unknown>> {
  expect([answer.status, answer.headers.location]).toEqual([302, `${PUBLIC_URL}/dashboard/`]);
  const refresh_token = /__Host-refresh=([\w-]{20,})/.exec(answer.headers['set-cookie'] ?? '')?.[1];
  const { body } = await keys.call('POST', '/auth/refresh', { body: { refresh_token } });
  return (await keys.call('GET', '/auth/me', { as: String(body.token) })).body;
}

const ada = (groups: string[]): Record<string, unknown> & { sub: string } => ({
  sub: 'ada',
  email: 'Ada@example.com',
  email_verified: true,
  name: 'Ada',
  groups,
});

describe('OIDC', () => {
  it('GET /auth/options names the provider', async () => {
    const { body } = await keys.call('GET', '/auth/options');
    expect(body).toEqual({ password: true, oidc: { name: 'Example SSO' }, billing: 'prepaid' });
  });

  it('AUTH-27 a whole login: a new person with what their groups in userinfo give', async () => {
    const me = await meOf(await login(ada(['eng', 'other'])));
    expect(me).toMatchObject({
      user: { email: 'ada@example.com', name: 'Ada' },
      memberships: [{ org_id: org.orgId, role: 'member' }],
      is_super_admin: false,
    });
  });

  it('AUTH-27 groups follow at each login: more, fewer, none; the same person throughout', async () => {
    const first = await meOf(await login(ada(['leads', 'ops'])));
    expect([first.memberships, first.is_super_admin]).toMatchObject([[{ role: 'admin' }], true]);
    const last = await meOf(await login({ ...ada([]), email: 'renamed@example.com' }));
    expect([last.memberships, last.is_super_admin]).toEqual([[], false]);
    expect((last.user as { id: string }).id).toBe((first.user as { id: string }).id);
  });

  it('AUTH-27 what a person was given by hand no group takes back', async () => {
    const person = await keys.person({ orgId: org.orgId, role: 'admin' });
    const vouched = { sub: person.userId, email: person.email, email_verified: true, groups: ['eng'] };
    expect((await meOf(await login(vouched))).memberships).toMatchObject([{ role: 'admin' }]);
    expect((await meOf(await login({ ...vouched, groups: [] }))).memberships).toMatchObject([
      { role: 'admin' },
    ]);
  });

  it('AUTH-27 403 for a second subject with the address of a person who logs in already', async () => {
    const who = { email: 'grace@example.com', email_verified: true, groups: ['eng'] };
    expect((await login({ ...who, sub: 'grace' })).status).toBe(302);
    expect((await login({ ...who, sub: 'heir of the address' })).status).toBe(403);
  });

  it('AUTH-27 the last super admin stays one, whatever their groups say', async () => {
    const boss = { sub: 'boss', email: 'boss@example.com', email_verified: true };
    expect((await meOf(await login({ ...boss, groups: ['ops'] }))).is_super_admin).toBe(true);
    const { prisma } = keys.database;
    const others = { is_super_admin: true, super_admin_source: null };
    await prisma.user.updateMany({ where: others, data: { is_super_admin: false } });
    expect((await meOf(await login({ ...boss, groups: [] }))).is_super_admin).toBe(true);
    await prisma.user.update({ where: { id: keys.admin.userId }, data: { is_super_admin: true } });
    expect((await meOf(await login({ ...boss, groups: [] }))).is_super_admin).toBe(false);
  });

  it('AUTH-27 403 for an address of a known person that the provider has not verified, for none, and for no group', async () => {
    const person = await keys.person();
    const status = async (who: object): Promise<number> =>
      (await login({ sub: `s-${JSON.stringify(who)}`, groups: ['eng'], ...who })).status;
    expect(await status({ email: person.email, email_verified: false })).toBe(403);
    expect(await status({ email: person.email })).toBe(403);
    expect(await status({})).toBe(403);
    expect(await status({ email: 'new@example.com' })).toBe(403);
    expect(await keys.database.prisma.user.count({ where: { email: 'new@example.com' } })).toBe(0);
    expect(await status({ email: 'nobody@example.com', email_verified: true, groups: ['x'] })).toBe(403);
  });

  it('AUTH-27 401 without the cookie of this browser, with another login’s, and for a second use', async () => {
    provider.person = ada(['eng']);
    const [mine, other] = [await begin(), await begin()];
    const back = provider.authorize(mine.url);
    expect((await keys.call('GET', back)).status).toBe(401);
    expect((await keys.call('GET', back, { headers: { cookie: other.cookie } })).status).toBe(401);
    expect((await keys.call('GET', back, { headers: { cookie: '__Host-oidc=AAAA' } })).status).toBe(401);
    expect((await keys.call('GET', back, { headers: { cookie: mine.cookie } })).status).toBe(302);
    expect((await keys.call('GET', back, { headers: { cookie: mine.cookie } })).status).toBe(401);
  });

  it.each([
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: 'another' }],
    ['another nonce', { nonce: 'x' }],
    ['another client as its party', { azp: 'another' }],
    ['an end in the past', { exp: 1 }],
    ['another person than userinfo', { sub: 'mallory' }],
  ])('AUTH-27 401 for an id_token with %s', async (_name, idToken) => {
    provider.idToken = idToken;
    expect((await login(ada(['eng']))).status).toBe(401);
  });

  it('AUTH-27 503 while the provider is away, 401 where it refuses', async () => {
    for (const status of [500, 404, 401]) {
      provider.status = status;
      expect((await keys.call('GET', '/auth/oidc/start')).status).toBe(503);
    }
    provider.status = null;
    const { cookie } = await begin();
    const state = new URLSearchParams({ error: 'access_denied', state: 'x' });
    const back = `/auth/oidc/callback?${state.toString()}`;
    expect((await keys.call('GET', back, { headers: { cookie } })).status).toBe(401);
  });

  it('AUTH-27 503 for an answer above 1 MiB', async () => {
    provider.bytes = 1_048_577;
    expect((await keys.call('GET', '/auth/oidc/start')).status).toBe(503);
    provider.bytes = 1_048_576;
    expect((await keys.call('GET', '/auth/oidc/start')).status).toBe(302);
  });

  it('AUTH-27 404 where none is set up', async () => {
    const issuer = keys.config.OIDC_ISSUER;
    keys.config.OIDC_ISSUER = undefined;
    expect((await keys.call('GET', '/auth/oidc/start')).status).toBe(404);
    expect((await keys.call('GET', '/auth/options')).body).toEqual({
      password: true,
      oidc: null,
      billing: 'prepaid',
    });
    keys.config.OIDC_ISSUER = issuer;
  });
});

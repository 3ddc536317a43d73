import { applyMigrations } from '@gateway/database';
import { mintSecret, SystemRandom } from '@gateway/platform';
import { testDatabase, type TestDatabase } from '@gateway/testing';
import {
  FLEET_TOKEN,
  startKeysApp,
  type CallOptions,
  type KeysApp,
  type Person,
} from './keys-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from './postgres/keys-database.js';

/**
 * Every endpoint of this service x who calls x whose resource: the one table of permissions. An endpoint that is
 * missing here, or here and not there, fails.
 */
const ROLES = [
  'owner',
  'admin',
  'member',
  'outsider',
  'super_admin',
  'rsk',
  'scoped',
  'suspended',
  'mak',
  'none',
] as const;
type Role = (typeof ROLES)[number];

/** No session: an rsk_ key is forbidden, an unknown mak_ key and nobody are unauthorized. */
const KEYED: Partial<Record<Role, number>> = { rsk: 403, scoped: 403, suspended: 403, mak: 401, none: 401 };

interface Case {
  route: string;
  /** Whose thing the call is about. */
  about: string;
  call: (at: Targets) => { method: 'GET' | 'POST' | 'PATCH' | 'DELETE'; path: string; body?: object };
  expected: Record<Role, number>;
}

interface Targets {
  orgId: string;
  otherOrgId: string;
  /** A key of the org's owner, of its member, of another org, and a personal one of somebody else. */
  ownerKey: string;
  memberKey: string;
  otherOrgKey: string;
  personalKey: string;
}

function row(
  expected: Partial<Record<Role, number>>,
  sessions: { owner: number; admin: number; member: number; outsider: number; super_admin: number },
): Record<Role, number> {
  return { ...KEYED, ...sessions, ...expected } as Record<Role, number>;
}

const all = (code: number) => ({ owner: code, admin: code, member: code, outsider: code, super_admin: code });
const ofOrg = { owner: 200, admin: 200, member: 404, outsider: 404, super_admin: 404 };
const ofMember = { ...ofOrg, member: 200 };
const everybody = (code: number) =>
  Object.fromEntries(ROLES.map((role) => [role, code])) as Record<Role, number>;

function keyCases(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', suffix: string): Case[] {
  const route = `${method} /v1/keys/:id${suffix}`;
  const bodies: Record<string, object> = { PATCH: { label: 'x' }, '/rotate': {} };
  const body = bodies[suffix] ?? bodies[method];
  const about = (name: keyof Targets, sessions: ReturnType<typeof all>): Case => ({
    route,
    about: name,
    call: (at) => ({ method, path: `/v1/keys/${at[name]}${suffix}`, body }),
    expected: row({}, sessions),
  });
  return [
    about('ownerKey', ofOrg),
    about('memberKey', ofMember),
    about('otherOrgKey', all(404)),
    about('personalKey', all(404)),
    {
      route,
      about: 'an unknown key',
      call: () => ({ method, path: `/v1/keys/key_0${suffix}`, body }),
      expected: row({}, all(404)),
    },
  ];
}

const TABLE: Case[] = [
  {
    route: 'POST /v1/keys',
    about: 'own org',
    call: ({ orgId }) => ({ method: 'POST', path: '/v1/keys', body: { org_id: orgId } }),
    expected: row({}, { owner: 201, admin: 201, member: 201, outsider: 403, super_admin: 403 }),
  },
  {
    route: 'POST /v1/keys',
    about: 'other org',
    call: ({ otherOrgId }) => ({ method: 'POST', path: '/v1/keys', body: { org_id: otherOrgId } }),
    expected: row({}, all(403)),
  },
  {
    route: 'POST /v1/keys',
    about: 'own account',
    call: () => ({ method: 'POST', path: '/v1/keys', body: {} }),
    expected: row({}, all(201)),
  },
  {
    route: 'GET /v1/keys',
    about: 'any',
    call: () => ({ method: 'GET', path: '/v1/keys' }),
    expected: row({}, all(200)),
  },
  {
    route: 'GET /v1/keys/filter-options',
    about: 'any',
    call: () => ({ method: 'GET', path: '/v1/keys/filter-options' }),
    expected: row({}, all(200)),
  },
  ...keyCases('PATCH', ''),
  ...keyCases('GET', '/limits'),
  ...keyCases('POST', '/reactivate'),
  ...keyCases('POST', '/rotate'),
  // Last, because it suspends what the others use.
  ...keyCases('DELETE', ''),
  {
    route: 'GET /v1/key',
    about: 'own key',
    call: () => ({ method: 'GET', path: '/v1/key' }),
    expected: row({ rsk: 200, scoped: 200 }, all(403)),
  },
  {
    route: 'POST /auth/login',
    about: 'nobody known',
    call: () => ({ method: 'POST', path: '/auth/login', body: { email: 'no@example.com', password: 'no' } }),
    // Ten callers, ten attempts: the bound of an address is not reached.
    expected: everybody(401),
  },
  {
    route: 'POST /auth/refresh',
    about: 'no session',
    call: () => ({ method: 'POST', path: '/auth/refresh', body: {} }),
    expected: everybody(401),
  },
  {
    route: 'POST /auth/logout',
    about: 'an unknown session',
    call: () => ({ method: 'POST', path: '/auth/logout', body: { refresh_token: 'unknown' } }),
    expected: everybody(204),
  },
  {
    route: 'GET /auth/me',
    about: 'self',
    call: () => ({ method: 'GET', path: '/auth/me' }),
    expected: row({}, all(200)),
  },
  {
    route: 'GET /.well-known/jwks.json',
    about: 'any',
    call: () => ({ method: 'GET', path: '/.well-known/jwks.json' }),
    expected: everybody(200),
  },
  {
    route: 'POST /internal/principals/resolve',
    about: 'without the fleet token',
    call: () => ({
      method: 'POST',
      path: '/internal/principals/resolve',
      body: { kind: 'key', digest: '0'.repeat(64) },
    }),
    expected: everybody(404),
  },
  ...['/healthz', '/readyz', '/metrics'].map((path): Case => ({
    route: `GET ${path}`,
    about: 'operations',
    call: () => ({ method: 'GET', path }),
    expected: everybody(200),
  })),
];

let database: TestDatabase;
let keys: KeysApp;
let targets: Targets;
let callers: Record<Role, string | undefined>;

beforeAll(async () => {
  const migrate = async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  };
  database = await testDatabase({ schemaDir: SCHEMA_DIR, migrate });
  keys = await startKeysApp(database.url);
  const owner = await keys.person();
  const { orgId } = await keys.org(owner);
  const admin = await keys.person({ orgId, role: 'admin' });
  const member = await keys.person({ orgId, role: 'member' });
  const outsider = await keys.person();
  const stranger = await keys.person();
  const { orgId: otherOrgId } = await keys.org(stranger);
  const make = async (as: Person, body: object): Promise<{ id: string; key: string }> => {
    const answer = await keys.call('POST', '/v1/keys', { as, body });
    return { id: String(answer.body.id), key: String(answer.body.key) };
  };
  const suspended = await make(member, { org_id: orgId });
  await keys.call('DELETE', `/v1/keys/${suspended.id}`, { as: member });
  targets = {
    orgId,
    otherOrgId,
    ownerKey: (await make(owner, { org_id: orgId })).id,
    memberKey: (await make(member, { org_id: orgId })).id,
    otherOrgKey: (await make(stranger, { org_id: otherOrgId })).id,
    personalKey: (await make(stranger, {})).id,
  };
  callers = {
    owner: owner.token,
    admin: admin.token,
    member: member.token,
    outsider: outsider.token,
    super_admin: keys.admin.token,
    rsk: (await make(owner, { org_id: orgId })).key,
    scoped: (await make(owner, { org_id: orgId, scopes: ['models:read'] })).key,
    suspended: suspended.key,
    mak: mintedAdminKey(),
    none: undefined,
  };
});

afterAll(async () => {
  await keys?.close();
  await database?.drop();
});

/** Well formed and unknown: there are no admin keys yet. */
function mintedAdminKey(): string {
  return mintSecret('mak_', new SystemRandom());
}

it('every endpoint stands in the table, and nothing else', () => {
  const served = keys.routes.map(({ method, path }) => `${method} ${path}`);
  expect([...new Set(TABLE.map(({ route }) => route))].sort()).toEqual([...new Set(served)].sort());
});

const cells = TABLE.flatMap((entry) => ROLES.map((role) => [entry.route, entry.about, role, entry] as const));

it.each(cells)('AUTH-02 AUTH-04 KEY-26 %s (%s) as %s', async (_route, _about, role, entry) => {
  const { method, path, body } = entry.call(targets);
  const options: CallOptions = { as: callers[role], body };
  const answer = await keys.call(method, path, options);
  expect([answer.status, answer.text]).toEqual([entry.expected[role], expect.any(String)]);
});

it('POST /internal/principals/resolve answers the fleet alone', async () => {
  const body = { kind: 'key', digest: '0'.repeat(64) };
  const headers = { 'x-fleet-token': FLEET_TOKEN };
  expect((await keys.call('POST', '/internal/principals/resolve', { body, headers })).status).toBe(401);
  const wrong = { 'x-fleet-token': `${FLEET_TOKEN}x` };
  expect((await keys.call('POST', '/internal/principals/resolve', { body, headers: wrong })).status).toBe(
    404,
  );
});

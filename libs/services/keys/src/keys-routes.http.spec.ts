import { applyMigrations } from '@gateway/database';
import { mintSecret, SystemRandom, type AccessRule } from '@gateway/platform';
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
 * Every endpoint of this service x who calls x whose thing. The expected status is read from the endpoint's own @Access;
 * here stands only how to call it. An endpoint that is missing here, or here and not there, fails.
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
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

interface Targets {
  orgId: string;
  otherOrgId: string;
  /** A key of the org's owner, of its member, of another org, and a personal one of somebody else. */
  ownerKey: string;
  memberKey: string;
  otherOrgKey: string;
  personalKey: string;
}

/** How an endpoint is called, and what it answers a caller who is let in. */
interface HowTo {
  status: number;
  /** What `:id` names. */
  id?: 'org' | 'key';
  body?: object | ((role: Role) => object);
}

const CALLS: Record<string, HowTo> = {
  'POST /v1/keys': { status: 201, body: {} },
  'GET /v1/keys': { status: 200 },
  'GET /v1/keys/filter-options': { status: 200 },
  'PATCH /v1/keys/:id': { status: 200, id: 'key', body: { label: 'x' } },
  'GET /v1/keys/:id/limits': { status: 200, id: 'key' },
  'POST /v1/keys/:id/reactivate': { status: 200, id: 'key' },
  'POST /v1/keys/:id/rotate': { status: 200, id: 'key', body: {} },
  'GET /v1/key': { status: 200 },
  'POST /v1/orgs': { status: 201, body: { name: 'A new one' } },
  'GET /v1/orgs': { status: 200 },
  'GET /v1/orgs/:id': { status: 200, id: 'org' },
  'PATCH /v1/orgs/:id': { status: 200, id: 'org', body: {} },
  // An address each, because one that fails again and again has to wait.
  'POST /auth/login': { status: 401, body: (role) => ({ email: `${role}@example.com`, password: 'no' }) },
  'POST /auth/refresh': { status: 401, body: {} },
  'POST /auth/logout': { status: 204, body: { refresh_token: 'unknown' } },
  'GET /auth/me': { status: 200 },
  'GET /.well-known/jwks.json': { status: 200 },
  'POST /internal/principals/resolve': { status: 200, body: { kind: 'key', digest: '0'.repeat(64) } },
  'GET /healthz': { status: 200 },
  'GET /readyz': { status: 200 },
  'GET /metrics': { status: 200 },
  // Last, because it suspends what the others use.
  'DELETE /v1/keys/:id': { status: 200, id: 'key' },
};

/** Whose thing a call is about: of which org, and whether the org's member made it. */
interface About {
  name: string;
  id: (targets: Targets) => string;
  org: 'own' | 'other' | 'none';
  isMembers?: true;
}

const ABOUT: Record<'org' | 'key', About[]> = {
  org: [
    { name: 'own org', id: ({ orgId }) => orgId, org: 'own' },
    { name: 'other org', id: ({ otherOrgId }) => otherOrgId, org: 'other' },
    { name: 'an unknown org', id: () => 'org_0', org: 'none' },
  ],
  key: [
    { name: 'the owner’s', id: ({ ownerKey }) => ownerKey, org: 'own' },
    { name: 'the member’s', id: ({ memberKey }) => memberKey, org: 'own', isMembers: true },
    { name: 'of another org', id: ({ otherOrgKey }) => otherOrgKey, org: 'other' },
    { name: 'of another person', id: ({ personalKey }) => personalKey, org: 'other' },
    { name: 'an unknown key', id: () => 'key_0', org: 'none' },
  ],
};
const NO_THING: About = { name: 'nothing', id: () => '', org: 'own' };

/** What the declaration promises. */
function expected(rule: AccessRule, { status, id }: HowTo, role: Role, about: About): number {
  if (rule.public === true) return status;
  if (rule.internal === true) return 404;
  if (role === 'none' || role === 'mak') return 401; // Well formed and unknown: there are no admin keys yet.
  if (role === 'suspended') return 403;
  if (role === 'rsk' || role === 'scoped') return isOpenToKey(rule, role) ? status : 403;
  if (rule.superAdmin === true && role === 'super_admin') return about.org === 'none' ? 404 : status;
  if (rule.session === undefined) return 403;
  if (rule.org === undefined || id === undefined) return status;
  if (about.org !== 'own' || role === 'outsider' || role === 'super_admin') return 404;
  if (rule.org.roles.includes(role)) return status;
  if (rule.org.own === true) return about.isMembers === true ? status : 404;
  return 403;
}

function isOpenToKey({ key }: AccessRule, role: 'rsk' | 'scoped'): boolean {
  if (key === undefined || key === true || role === 'rsk') return key !== undefined;
  return key.permission === 'models:read';
}

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
  expect(Object.keys(CALLS).sort()).toEqual([...new Set(served)].sort());
});

const cells = Object.entries(CALLS).flatMap(([route, how]) =>
  (how.id === undefined ? [NO_THING] : ABOUT[how.id]).flatMap((about) =>
    ROLES.map((role) => [route, about.name, role, how, about] as const),
  ),
);

it.each(cells)('AUTH-02 AUTH-04 KEY-26 K13 %s (%s) as %s', async (route, _name, role, how, about) => {
  const [method, path] = route.split(' ') as [Method, string];
  const declared = keys.routes.find((served) => served.method === method && served.path === path);
  const body = typeof how.body === 'function' ? how.body(role) : how.body;
  const options: CallOptions = { as: callers[role], body };
  const answer = await keys.call(method, path.replace(':id', about.id(targets)), options);
  expect([answer.status, answer.text]).toEqual([
    expected(declared?.access ?? {}, how, role, about),
    expect.any(String),
  ]);
});

it.each(['own', 'other'] as const)('POST /v1/keys in %s org is for its members', async (which) => {
  const org_id = which === 'own' ? targets.orgId : targets.otherOrgId;
  for (const role of ['owner', 'admin', 'member', 'outsider', 'super_admin'] as const) {
    const { status } = await keys.call('POST', '/v1/keys', { as: callers[role], body: { org_id } });
    const isMember = which === 'own' && role !== 'outsider' && role !== 'super_admin';
    expect([role, status]).toEqual([role, isMember ? 201 : 403]);
  }
});

it('K14 another org answers like an unknown one, to the byte', async () => {
  const answers = [];
  for (const id of [targets.otherOrgId, 'org_0']) {
    const answer = await keys.call('GET', `/v1/orgs/${id}`, { as: callers.owner });
    answers.push(answer.text.replaceAll(String(answer.headers['x-request-id']), 'req'));
  }
  expect(answers[0]).toBe(answers[1]);
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

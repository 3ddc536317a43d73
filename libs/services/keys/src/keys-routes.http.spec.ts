import { applyMigrations } from '@gateway/database';
import type { AccessRule } from '@gateway/platform';
import { testDatabase, type TestDatabase } from '@gateway/testing';
import { FLEET_TOKEN, startKeysApp, type KeysApp, type Person } from './keys-app.fixture.js';
import {
  adminKeyOf,
  aMember,
  anAdminKey,
  anExpiredKey,
  anInvitation,
  aView,
  invitationCalls,
  viewCalls,
  aSuperAdmin,
  aBudget,
  aBudgetOf,
  aTeam,
  budgetCalls,
  aTeamMember,
  INTERNAL_CALLS,
  PLATFORM_CREDENTIAL_CALLS,
  PROVIDER_BUDGET_CALLS,
  aTemplate,
  ROLES,
  type Role,
  type Targets,
} from './keys-routes.fixture.js';
import { anEndUser, insertPrompt, PROMPT_VERSION } from './prompts/prompts.fixture.js';
import { SCHEMA, SCHEMA_DIR } from './postgres/keys-database.js';

/**
 * Every endpoint of this service x who calls x whose thing. The expected status is read from the endpoint's own @Access;
 * here stands only how to call it. An endpoint that is missing here, or here and not there, fails.
 */
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The way to call an endpoint, and its answer to an admitted caller. */
interface HowTo {
  status: number;
  /** The body names the organization, whose roles decide. */
  orgInBody?: true;
  /** Kind of thing that `:id` names. */
  id?: 'org' | 'key' | 'budget' | 'template' | 'providerKey' | 'team' | 'prompt' | 'adminKey';
  /** A member may read the thing, so refusing to change it is 403 and no 404. */
  isMembersToRead?: true;
  /** Returns the other parameters of the path, made anew for each call, because calls remove things. */
  params?: (targets: Targets, about: About) => Promise<Record<string, string>>;
  body?: object | ((role: Role) => object);
}

const TEMPLATE = { name: 'A template', routing_policy: { max_retries: 1 } };

const PROMPT = { id: 'prompt', params: aPrompt, isMembersToRead: true } as const;

const CALLS: Record<string, HowTo> = {
  ...INTERNAL_CALLS,
  ...PLATFORM_CREDENTIAL_CALLS,
  ...PROVIDER_BUDGET_CALLS,
  'POST /v1/keys': { status: 201, body: {} },
  'GET /v1/keys': { status: 200 },
  'GET /v1/keys/filter-options': { status: 200 },
  'PATCH /v1/keys/:id': { status: 200, id: 'key', body: { label: 'x' } },
  'GET /v1/keys/:id': { status: 200, id: 'key' },
  'GET /v1/keys/:id/limits': { status: 200, id: 'key' },
  'POST /v1/keys/:id/reactivate': { status: 200, id: 'key' },
  'POST /v1/keys/:id/rotate': { status: 200, id: 'key', body: {} },
  'GET /v1/key': { status: 200 },
  'POST /v1/orgs': { status: 201, body: { name: 'A new one' } },
  'GET /v1/orgs': { status: 200 },
  'GET /v1/orgs/:id': { status: 200, id: 'org' },
  'GET /v1/orgs/:id/budgets': { status: 200, id: 'org' },
  'PATCH /v1/orgs/:id': { status: 200, id: 'org', body: {} },
  'POST /v1/provider-keys': {
    status: 201,
    body: { provider: 'openai', credentials: { api_key: 'sk-role' } },
  },
  'GET /v1/provider-keys': { status: 200 },
  'GET /v1/provider-keys/:id': { status: 200, id: 'providerKey' },
  'PATCH /v1/provider-keys/:id': { status: 200, id: 'providerKey', body: { label: 'x' } },
  'POST /v1/provider-keys/:id/test': { status: 200, id: 'providerKey' },
  'DELETE /v1/orgs/:id': { status: 409, id: 'org' },
  'GET /v1/orgs/:id/members': { status: 200, id: 'org' },
  'GET /v1/orgs/:id/members/:user_id': { status: 200, id: 'org', params: anew(aMember) },
  'PATCH /v1/orgs/:id/members/:user_id': {
    status: 200,
    id: 'org',
    params: anew(aMember),
    body: { rpm_limit: 5 },
  },
  'DELETE /v1/orgs/:id/members/:user_id': { status: 204, id: 'org', params: anew(aMember) },
  ...invitationCalls(anew(anInvitation)),
  ...viewCalls(anew(aView)),
  'POST /v1/orgs/:id/teams': { status: 201, id: 'org', body: { name: 'A team' } },
  'GET /v1/orgs/:id/teams': { status: 200, id: 'org' },
  'GET /v1/teams/:id': { status: 200, id: 'team' },
  'PATCH /v1/teams/:id': { status: 200, id: 'team', body: { name: 'Renamed' } },
  'GET /v1/teams/:id/members': { status: 200, id: 'team' },
  'PUT /v1/teams/:id/members/:user_id': { status: 200, id: 'team', params: anew(aMember), body: {} },
  'DELETE /v1/teams/:id/members/:user_id': {
    status: 204,
    id: 'team',
    params: (all) => aTeamMember(keys, all),
  },
  'POST /v1/admin-keys': {
    status: 201,
    orgInBody: true,
    body: () => ({ org_id: targets.orgId, scopes: ['usage:read'] }),
  },
  'GET /v1/admin-keys': { status: 200 },
  'DELETE /v1/admin-keys/:id': { status: 204, id: 'adminKey', params: anew(anAdminKey) },
  'GET /v1/orgs/:id/audit-log': { status: 200, id: 'org' },
  'POST /v1/admin/super-admins': { status: 422, body: { email: 'nobody@example.com' } },
  'GET /v1/admin/super-admins': { status: 200 },
  'GET /v1/admin/organization-defaults': { status: 200 },
  'PUT /v1/admin/organization-defaults': { status: 200, body: {} },
  'PUT /v1/admin/discounts/:account': { status: 422, body: { pct: '101' } },
  'DELETE /v1/admin/super-admins/:user_id': { status: 204, params: anew(aSuperAdmin) },
  'POST /auth/password/change': { status: 422, body: { current_password: 'no', new_password: 'no' } },
  'POST /auth/password/forgot': { status: 204, body: (role) => ({ email: `${role}@example.com` }) },
  'POST /auth/password/reset': { status: 422, body: { token: 'unknown', password: 'long enough' } },
  'POST /auth/invitations/accept': { status: 422, body: { token: 'unknown', password: 'long enough' } },
  'PATCH /auth/me': { status: 200, body: {} },
  'GET /auth/sessions': { status: 200 },
  'DELETE /auth/sessions/:id': { status: 404 },
  'DELETE /auth/sessions': { status: 204 },
  'POST /v1/templates': {
    status: 201,
    orgInBody: true,
    body: (role: Role) => ({ org_id: targets.orgId, name: `made-by-${role}` }),
  },
  'GET /v1/templates': { status: 200 },
  'GET /v1/templates/:id': { ...PROMPT, status: 200 },
  'PATCH /v1/templates/:id': { ...PROMPT, status: 200, body: { description: 'x' } },
  'DELETE /v1/templates/:id': { ...PROMPT, status: 204 },
  'POST /v1/templates/:id/versions': { ...PROMPT, status: 201, body: PROMPT_VERSION },
  'GET /v1/templates/:id/versions': { ...PROMPT, status: 200 },
  'GET /v1/templates/:id/versions/:version_id': { ...PROMPT, status: 200 },
  'POST /v1/templates/:id/publish': { ...PROMPT, status: 404, body: { version_id: 'tv_0' } },
  'POST /v1/templates/:id/versions/:version_id/rollback': { ...PROMPT, status: 200 },
  'PUT /v1/memories/:end_user_id': { status: 200, params: anEndUser, body: { items: [] } },
  'GET /v1/memories/:end_user_id': { status: 200, params: anEndUser },
  'DELETE /v1/memories/:end_user_id': { status: 204, params: anEndUser },
  // An address each, because one that fails again and again has to wait.
  'POST /auth/login': { status: 401, body: (role) => ({ email: `${role}@example.com`, password: 'no' }) },
  'POST /auth/refresh': { status: 401, body: {} },
  'POST /auth/logout': { status: 204, body: { refresh_token: 'unknown' } },
  'GET /auth/me': { status: 200 },
  'GET /auth/options': { status: 200 },
  'GET /auth/oidc/start': { status: 404 }, // none is set up here
  'GET /auth/oidc/callback': { status: 401 },
  'GET /.well-known/jwks.json': { status: 200 },
  'GET /healthz': { status: 200 },
  'GET /readyz': { status: 200 },
  'GET /metrics': { status: 200 },
  ...budgetCalls(() => targets.orgId),
  'POST /v1/routing-policy-templates': {
    status: 201,
    orgInBody: true,
    body: () => ({ org_id: targets.orgId, ...TEMPLATE }),
  },
  'GET /v1/routing-policy-templates': { status: 200 },
  'GET /v1/routing-policy-templates/:id': { status: 200, id: 'template' },
  'PATCH /v1/routing-policy-templates/:id': { status: 200, id: 'template', body: { name: 'x' } },
  // A key uses it, so that the next role still finds it.
  'DELETE /v1/routing-policy-templates/:id': { status: 409, id: 'template' },
  // Last, because it suspends what the others use.
  'DELETE /v1/budgets/:id': { status: 204, id: 'budget', params: anew(aBudget) },
  'DELETE /v1/keys/:id': { status: 200, id: 'key' },
  'DELETE /v1/provider-keys/:id': { status: 204, id: 'providerKey' },
  'DELETE /v1/teams/:id': { status: 204, id: 'team', params: anew(aTeam) },
};

/** Makes a thing anew that a call removes; the row names one of another owner. */
function anew(
  make: (keys: KeysApp, orgId: string) => Promise<Record<string, string>>,
): NonNullable<HowTo['params']> {
  return async ({ orgId }, { org }) => {
    const { id, ...made } = await make(keys, orgId);
    return org === 'own' && id !== undefined ? { id, ...made } : made;
  };
}

function aPrompt({ orgId, otherOrgId }: Targets, { org }: About): Promise<Record<string, string>> {
  return insertPrompt(keys, { own: orgId, other: otherOrgId, none: null }[org]);
}

/** The owner of the thing that a call concerns: its org, and whether the org's member made it. */
interface About {
  name: string;
  id: (targets: Targets, role: Role) => string;
  org: 'own' | 'other' | 'none';
  isMembers?: true;
}

const ABOUT: Record<NonNullable<HowTo['id']>, About[]> = {
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
  budget: [
    { name: 'of the owner’s key', id: ({ ownerBudget }) => ownerBudget, org: 'own' },
    { name: 'of the member’s key', id: ({ memberBudget }) => memberBudget, org: 'own', isMembers: true },
    { name: 'of another org', id: ({ otherOrgBudget }) => otherOrgBudget, org: 'other' },
    { name: 'an unknown budget', id: () => 'bud_0', org: 'none' },
  ],
  template: [
    { name: 'own org', id: ({ template }) => template, org: 'own' },
    { name: 'other org', id: ({ otherOrgTemplate }) => otherOrgTemplate, org: 'other' },
    { name: 'an unknown template', id: () => 'rpt_0', org: 'none' },
  ],
  providerKey: [
    { name: 'of the org', id: ({ providerKeys }, role) => providerKeys[role], org: 'own' },
    { name: 'of another org', id: ({ otherProviderKey }) => otherProviderKey, org: 'other' },
    { name: 'an unknown one', id: () => 'pk_0', org: 'none' },
  ],
  team: [
    { name: 'own team', id: ({ teamId }) => teamId, org: 'own' },
    { name: 'team of another org', id: ({ otherTeamId }) => otherTeamId, org: 'other' },
    { name: 'an unknown team', id: () => 'team_0', org: 'none' },
  ],
  prompt: [
    { name: 'of the org', id: () => '', org: 'own' },
    { name: 'of another org', id: () => '', org: 'other' },
    { name: 'an unknown one', id: () => '', org: 'none' },
  ],
  adminKey: [
    { name: 'of the org', id: () => 'made anew', org: 'own' },
    { name: 'an unknown one', id: () => 'mak_0', org: 'none' },
  ],
};
const NO_THING: About = { name: 'nothing', id: () => 'unknown', org: 'own' };

/** Returns the status that the declaration promises. */
function expected(rule: AccessRule, how: HowTo, role: Role, about: About): number {
  const { status, id, orgInBody, isMembersToRead } = how;
  if (rule.public === true) return status;
  if (rule.internal === true) return 404;
  if (role === 'none' || role === 'expired') return 401;
  if (role === 'suspended') return 403;
  if (role === 'mak' || role === 'scoped_mak') {
    if (rule.adminKey === undefined || role === 'scoped_mak') return 403;
    return rule.org === undefined || id === undefined || about.org === 'own' ? status : 404;
  }
  if (role === 'rsk' || role === 'scoped') {
    if (!isOpenToKey(rule, role)) return 403;
    return id === undefined || about.org === 'own' ? status : 404;
  }
  if (rule.superAdmin === true && role === 'super_admin') return about.org === 'none' ? 404 : status;
  if (rule.session === undefined) return 403;
  const isOutside = role === 'outsider' || role === 'super_admin';
  if (orgInBody === true && rule.org !== undefined && (isOutside || !rule.org.roles.includes(role)))
    return 403;
  if (rule.org === undefined || id === undefined) return status;
  if (about.org !== 'own' || isOutside) return 404;
  if (rule.org.roles.includes(role)) return status;
  if (isMembersToRead === true) return 403;
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
  const makeProviderKey = async (as: Person, org_id: string): Promise<string> => {
    const body = { org_id, provider: 'openai', credentials: { api_key: 'sk-of-the-table' } };
    return String((await keys.call('POST', '/v1/provider-keys', { as, body })).body.id);
  };
  const providerKeys: Partial<Record<Role, string>> = {};
  for (const role of ROLES) providerKeys[role] = await makeProviderKey(owner, orgId);
  const team = async (as: Person, id: string): Promise<string> => {
    const answer = await keys.call('POST', `/v1/orgs/${id}/teams`, { as, body: { name: 'A team' } });
    return String(answer.body.id);
  };
  const suspended = await make(member, { org_id: orgId });
  await keys.call('DELETE', `/v1/keys/${suspended.id}`, { as: member });
  const ofOwner = await make(owner, { org_id: orgId });
  const ofMember = await make(member, { org_id: orgId });
  const ofOther = await make(stranger, { org_id: otherOrgId });
  targets = {
    orgId,
    otherOrgId,
    ownerKey: ofOwner.id,
    memberKey: ofMember.id,
    otherOrgKey: ofOther.id,
    ownerBudget: await aBudgetOf(keys, owner, orgId, ofOwner.id),
    memberBudget: await aBudgetOf(keys, owner, orgId, ofMember.id),
    otherOrgBudget: await aBudgetOf(keys, stranger, otherOrgId, ofOther.id),
    personalKey: (await make(stranger, {})).id,
    template: await aTemplate(keys, owner, { org_id: orgId, ...TEMPLATE }),
    otherOrgTemplate: await aTemplate(keys, stranger, { org_id: otherOrgId, ...TEMPLATE }),
    providerKeys: providerKeys as Record<Role, string>,
    otherProviderKey: await makeProviderKey(stranger, otherOrgId),
    teamId: await team(owner, orgId),
    otherTeamId: await team(stranger, otherOrgId),
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
    expired: await anExpiredKey(keys, owner, orgId),
    mak: await adminKeyOf(keys, owner, orgId, ['keys:read', 'keys:write', 'members:read']),
    scoped_mak: await adminKeyOf(keys, owner, orgId, ['usage:read']),
    none: undefined,
  };
});

afterAll(async () => {
  await keys?.close();
  await database?.drop();
});

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
  const id = about.id(targets, role);
  const params = { id, ...(await how.params?.(targets, about)) };
  const url = path.replaceAll(/:(\w+)/g, (_whole, param: string) => Reflect.get(params, param) as string);
  const answer = await keys.call(method, url, { as: callers[role], body });
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
  const refused = await keys.call('POST', '/internal/principals/resolve', { body, headers: wrong });
  expect(refused.status).toBe(404);
});

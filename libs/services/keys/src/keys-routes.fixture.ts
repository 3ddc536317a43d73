import { newId } from '@gateway/contracts';
import { SystemClock, SystemRandom } from '@gateway/platform';
import type { KeysApp, Person } from './keys-app.fixture.js';

/** The callers of the table. */
export const ROLES = [
  'owner',
  'admin',
  'member',
  'outsider',
  'super_admin',
  'rsk',
  'scoped',
  'suspended',
  'expired',
  'mak',
  'scoped_mak',
  'none',
] as const;
export type Role = (typeof ROLES)[number];

/** Parameters of things that calls of the endpoint x role table remove: made anew for each call. */
type Named = Promise<Record<string, string>>;

const clock = new SystemClock();
const random = new SystemRandom();

export async function aMember(keys: KeysApp, orgId: string): Named {
  return { user_id: (await keys.person({ orgId, role: 'member' })).userId };
}

export async function aTeamMember(keys: KeysApp, team: { orgId: string; teamId: string }): Named {
  const { user_id } = await aMember(keys, team.orgId);
  const data = { team_id: team.teamId, user_id, created_at: new Date(clock.now()) };
  await keys.database.prisma.teamMember.create({ data });
  return { user_id };
}

export async function aTeam(keys: KeysApp, org_id: string): Named {
  const id = newId('team', clock, random);
  const now = new Date(clock.now());
  const data = { id, org_id, name: 'A team', created_at: now, updated_at: now };
  await keys.database.prisma.team.create({ data });
  return { id };
}

export interface Targets {
  orgId: string;
  otherOrgId: string;
  /** A key of the org's owner, of its member, of another org, and a personal one of somebody else. */
  ownerKey: string;
  memberKey: string;
  otherOrgKey: string;
  personalKey: string;
  /** Budgets of keys: of the owner's, the member's and another org's. */
  ownerBudget: string;
  memberBudget: string;
  otherOrgBudget: string;
  /** A routing policy template of the org, and of another one. */
  template: string;
  otherOrgTemplate: string;
  /** Provider keys of the org, one for each role, because some are deleted; and one of another org. */
  providerKeys: Record<Role, string>;
  otherProviderKey: string;
  teamId: string;
  otherTeamId: string;
}

const BUDGET = { name: 'Ours', amount_usd: '1', period: 'day' };

export async function aBudget(keys: KeysApp, org_id: string): Named {
  const id = newId('bud', clock, random);
  const now = new Date(clock.now());
  const of = { id, org_id, scope: 'org', scope_id: org_id, time_zone: 'UTC', is_enabled: true };
  await keys.database.prisma.budget.create({
    data: { ...of, ...BUDGET, counted_from: now, created_at: now, updated_at: now },
  });
  return { id };
}

export async function aBudgetOf(
  keys: KeysApp,
  as: Person,
  org_id: string,
  scope_id: string,
): Promise<string> {
  const body = { org_id, scope: 'key', scope_id, ...BUDGET };
  return String((await keys.call('POST', '/v1/budgets', { as, body })).body.id);
}

/** Calls of budgets but for their end. */
export const budgetCalls = (orgId: () => string) => ({
  'POST /v1/budgets': {
    status: 422,
    orgInBody: true as const,
    body: () => ({ org_id: orgId(), ...{ scope: 'key', scope_id: 'key_0' }, ...BUDGET }),
  },
  'GET /v1/budgets': { status: 200 },
  'GET /v1/budgets/:id': { status: 200, id: 'budget' as const },
  'PATCH /v1/budgets/:id': { status: 200, id: 'budget' as const, body: { name: 'x' } },
  'POST /v1/budgets/:id/raise': {
    status: 422,
    id: 'budget' as const,
    body: { by_usd: '0', until: '2026-01-01T00:00Z' },
  },
  'DELETE /v1/budgets/:id/raise': { status: 200, id: 'budget' as const },
});

export async function anAdminKey(keys: KeysApp, org_id: string): Named {
  const id = newId('mak', clock, random);
  const made = { created_by: keys.admin.userId, created_at: new Date(clock.now()) };
  const secret = { secret_hmac: id, masked_key: 'mak_', pepper_version: 1 };
  await keys.database.prisma.adminKey.create({ data: { id, org_id, scopes: [], ...made, ...secret } });
  return { id };
}

export async function aSuperAdmin(keys: KeysApp): Named {
  const { userId: user_id } = await keys.person();
  const data = { is_super_admin: true };
  await keys.database.prisma.user.update({ where: { id: user_id }, data });
  return { user_id };
}

export async function anInvitation(keys: KeysApp, org_id: string): Named {
  const id = newId('inv', clock, random);
  const times = { created_at: new Date(clock.now()), expires_at: new Date(clock.now() + 60_000) };
  const data = { id, org_id, email: id, role: 'member', token_digest: id, created_by: 'usr_0', ...times };
  await keys.database.prisma.invitation.create({ data });
  return { invitation_id: id };
}

/** `params` makes the parameters of one call. */
export const invitationCalls = <Params>(params: Params) => ({
  'POST /v1/orgs/:id/invitations': {
    status: 201,
    id: 'org' as const,
    body: (role: Role) => ({ email: `${role}@example.com`, role: 'member' }),
  },
  'GET /v1/orgs/:id/invitations': { status: 200, id: 'org' as const },
  'DELETE /v1/orgs/:id/invitations/:invitation_id': { status: 204, id: 'org' as const, params },
});

export async function aView(keys: KeysApp, org_id: string): Named {
  const id = newId('view', clock, random);
  const now = new Date(clock.now());
  const times = { created_at: now, updated_at: now };
  const data = { id, org_id, page: '/usage', name: id, search: {}, created_by: 'usr_0', ...times };
  await keys.database.prisma.savedView.create({ data });
  return { view_id: id };
}

/** Calls of views; those of one are of a view that no role of the table made. */
export const viewCalls = <Params>(params: Params) => ({
  'POST /v1/orgs/:id/views': {
    status: 201,
    id: 'org' as const,
    body: (role: Role) => ({ page: '/usage', name: `of ${role}`, search: {} }),
  },
  'GET /v1/orgs/:id/views': { status: 200, id: 'org' as const },
  'PATCH /v1/orgs/:id/views/:view_id': {
    ...{ status: 200, id: 'org' as const, params, isMembersToRead: true as const },
    body: {},
  },
  'DELETE /v1/orgs/:id/views/:view_id': {
    ...{ status: 204, id: 'org' as const, params, isMembersToRead: true as const },
  },
});

export async function aTemplate(keys: KeysApp, as: Person, body: { org_id: string }): Promise<string> {
  const { org_id } = body;
  const answer = await keys.call('POST', '/v1/routing-policy-templates', { as, body });
  const routing_policy_template_id = String(answer.body.id);
  await keys.call('POST', '/v1/keys', { as, body: { org_id, routing_policy_template_id } });
  return routing_policy_template_id;
}

export async function anExpiredKey(keys: KeysApp, as: Person, org_id: string): Promise<string> {
  const { body } = await keys.call('POST', '/v1/keys', { as, body: { org_id } });
  const data = { expires_at: new Date(0) };
  await keys.database.prisma.apiKey.update({ where: { id: String(body.id) }, data });
  return String(body.key);
}

export async function adminKeyOf(
  keys: KeysApp,
  as: Person,
  org_id: string,
  scopes: string[],
): Promise<string> {
  const answer = await keys.call('POST', '/v1/admin-keys', { as, body: { org_id, scopes } });
  return String(answer.body.key);
}

/** Calls of the fleet, which no role may make. */
const AUDITED = {
  ...{ id: 'aud_of_the_table', created_at: '2026-11-01T00:00:00.000Z', org_id: null, request_id: 'req_0' },
  ...{ actor_kind: 'session', actor_id: 'usr_0', ip: '', action: 'a.b', target_type: 't', target_id: 'i' },
  changed_fields: [],
};

const CREDENTIALS = '/v1/admin/providers/:slug/credentials';
const ofOpenai = (): Promise<Record<string, string>> => Promise.resolve({ slug: 'openai' });
const anUnknownOne = (): Promise<Record<string, string>> => Promise.resolve({ slug: 'openai', id: 'cred_0' });

/** Calls of super admins alone. */
export const PLATFORM_CREDENTIAL_CALLS = {
  [`POST ${CREDENTIALS}`]: { status: 422, params: ofOpenai, body: {} },
  [`GET ${CREDENTIALS}`]: { status: 200, params: ofOpenai },
  [`GET ${CREDENTIALS}/:id`]: { status: 404, params: anUnknownOne },
  [`PATCH ${CREDENTIALS}/:id`]: { status: 404, params: anUnknownOne, body: {} },
  [`DELETE ${CREDENTIALS}/:id`]: { status: 404, params: anUnknownOne },
  [`POST ${CREDENTIALS}/:id/test`]: { status: 404, params: anUnknownOne },
  [`POST ${CREDENTIALS}/:id/rotate`]: {
    status: 404,
    params: anUnknownOne,
    body: { credentials: { api_key: 'sk-role' } },
  },
};

const ADMIN_BUDGETS = '/v1/admin/budgets';
const anUnknownBudget = (): Promise<Record<string, string>> => Promise.resolve({ id: 'bud_0' });

export const PROVIDER_BUDGET_CALLS = {
  [`POST ${ADMIN_BUDGETS}`]: { status: 422, body: {} },
  [`GET ${ADMIN_BUDGETS}`]: { status: 200 },
  [`GET ${ADMIN_BUDGETS}/:id`]: { status: 404, params: anUnknownBudget },
  [`PATCH ${ADMIN_BUDGETS}/:id`]: { status: 404, params: anUnknownBudget, body: {} },
  [`DELETE ${ADMIN_BUDGETS}/:id`]: { status: 404, params: anUnknownBudget },
  [`POST ${ADMIN_BUDGETS}/:id/raise`]: {
    status: 404,
    params: anUnknownBudget,
    body: { by_usd: '1', until: '2026-01-01T00:00Z' },
  },
  [`DELETE ${ADMIN_BUDGETS}/:id/raise`]: { status: 404, params: anUnknownBudget },
};

export const INTERNAL_CALLS = {
  'POST /internal/platform-credentials/open': { status: 200, body: { id: 'cred_0', version: 1 } },
  'POST /internal/platform-credentials/sync': {
    status: 200,
    body: { environment: [], states: [], uses: [] },
  },
  'POST /internal/provider-keys/open': { status: 200, body: { account_id: 'a', id: 'p', version: 1 } },
  'POST /internal/provider-keys/uses': { status: 204, body: { uses: [] } },
  'POST /internal/content/template': { status: 200, body: { account_id: 'a', name: 'n', version: null } },
  'POST /internal/content/memories': { status: 200, body: { account_id: 'a', end_user_hash: 'h', max: 1 } },
  'GET /internal/orgs/:id/owners': { status: 200, id: 'org' },
  'POST /internal/directory/names': {
    status: 200,
    body: { account_id: 'a', keys: [], users: [], teams: [] },
  },
  'GET /internal/directory/orgs/:id/people/:user_id/teams': {
    status: 200,
    id: 'org',
    params: async () => ({ user_id: 'usr_0' }),
  },
  'POST /internal/directory/content-promises': { status: 200, body: { org_ids: ['org_x'] } },
  'POST /internal/directory/forget': { status: 204, body: { account_id: 'a', end_user_hash: 'h' } },
  'POST /internal/directory/audit': { status: 204, body: AUDITED },
  'GET /internal/directory/payers/:id': { status: 200, id: 'org' },
  'POST /internal/principals/resolve': { status: 200, body: { kind: 'key', digest: '0'.repeat(64) } },
  'POST /internal/principals/keys': { status: 200, body: { digests: ['0'.repeat(64)] } },
  'POST /internal/principals/by-id': { status: 200, body: { key_id: 'key_0', account_ids: [] } },
} as const;

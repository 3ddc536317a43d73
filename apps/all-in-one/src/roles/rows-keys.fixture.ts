import { randomUUID } from 'node:crypto';
import { EVERYBODY, FLEET, members, PEOPLE, rsk, staff, SUPER } from './expected.fixture.js';
import type { Making, Row, Rows } from './row.fixture.js';

const makers = (mak?: string): Row['who'] => staff({ makers: true, mak });
const PROMPT_STAFF = staff({ makers: true, isSeenByMembers: true });
const PROMPT_READ = members({ rsk: 'templates:read' });
// The owner's; members change their own alone.
const VIEW_STAFF = staff({ isSeenByMembers: true });
const aView = (): object => ({ page: '/usage', name: randomUUID(), search: {} });
const MEMORY = staff({ rsk: 'end-users:write' });
const anEmail = (): object => ({ email: `${randomUUID()}@example.com` });

const KEYS: Rows = {
  'POST /v1/keys': { who: members({ mak: 'keys:write' }), org: 'body', status: 201, body: {} },
  'GET /v1/keys': { who: { people: 'all', mak: 'keys:read' } },
  'GET /v1/keys/filter-options': { who: { people: 'all', mak: 'keys:read' } },
  'GET /v1/keys/:id': { who: makers('keys:read'), thing: 'key' },
  'GET /v1/keys/:id/limits': { who: makers('keys:read'), thing: 'key' },
  'PATCH /v1/keys/:id': { who: makers('keys:write'), thing: 'key', body: { label: 'x' } },
  'POST /v1/keys/:id/reactivate': { who: makers('keys:write'), thing: 'key' },
  'POST /v1/keys/:id/rotate': { who: makers('keys:write'), thing: 'key', body: {} },
  'DELETE /v1/keys/:id': { who: makers('keys:write'), thing: 'key', isFresh: true },
  'GET /v1/key': { who: rsk('any') },
  'POST /v1/limits/simulate': {
    who: makers('keys:read'),
    thing: 'key',
    body: ({ thing }: Making) => ({
      ...{ key_id: thing.id, model: 'simulator/chat' },
      ...{ prompt_tokens: 1, max_tokens: 1 },
    }),
  },
  'GET /v1/admin-keys': { who: PEOPLE },
  'POST /v1/admin-keys': { who: staff(), org: 'body', status: 201, body: { scopes: ['usage:read'] } },
  'DELETE /v1/admin-keys/:id': { who: staff(), thing: 'adminKey', isFresh: true, status: 204 },
};

const PROVIDER_KEYS: Rows = {
  'POST /v1/provider-keys': {
    who: staff(),
    org: 'body',
    status: 201,
    body: { provider: 'simulated', credentials: { api_key: 'sk-role' }, is_enabled: false },
  },
  'GET /v1/provider-keys': { who: PEOPLE },
  'GET /v1/provider-keys/:id': { who: makers(), thing: 'providerKey' },
  'PATCH /v1/provider-keys/:id': { who: makers(), thing: 'providerKey', body: { label: 'x' } },
  'POST /v1/provider-keys/:id/test': { who: makers(), thing: 'providerKey' },
  'DELETE /v1/provider-keys/:id': { who: makers(), thing: 'providerKey', isFresh: true, status: 204 },
};

const OF_SIMULATED = { slug: 'simulated' };
const UNKNOWN_CREDENTIAL = { who: SUPER, status: 404, params: { ...OF_SIMULATED, id: 'cred_0' } };

const PLATFORM_CREDENTIALS: Rows = {
  'POST /v1/admin/providers/:slug/credentials': { who: SUPER, status: 422, params: OF_SIMULATED, body: {} },
  'GET /v1/admin/providers/:slug/credentials': { who: SUPER, params: OF_SIMULATED },
  'GET /v1/admin/providers/:slug/credentials/:id': UNKNOWN_CREDENTIAL,
  'PATCH /v1/admin/providers/:slug/credentials/:id': { ...UNKNOWN_CREDENTIAL, body: {} },
  'DELETE /v1/admin/providers/:slug/credentials/:id': UNKNOWN_CREDENTIAL,
  'POST /v1/admin/providers/:slug/credentials/:id/test': UNKNOWN_CREDENTIAL,
  'POST /v1/admin/providers/:slug/credentials/:id/rotate': {
    ...UNKNOWN_CREDENTIAL,
    body: { credentials: { api_key: 'sk-role' } },
  },
};

const ORGS: Rows = {
  'POST /v1/orgs': { who: PEOPLE, status: 201, body: { name: 'A new one' } },
  'GET /v1/orgs': { who: PEOPLE },
  'GET /v1/orgs/:id': { who: members({ superAdmins: true }), thing: 'org' },
  'PATCH /v1/orgs/:id': { who: staff({ superAdmins: true }), thing: 'org', body: {} },
  // Refused while a key is active: by nobody else than who may.
  'DELETE /v1/orgs/:id': { who: { people: ['owner'] }, thing: 'org', status: 409 },
  'GET /v1/orgs/:id/budgets': { who: staff({ superAdmins: true }), thing: 'org' },
  'GET /v1/orgs/:id/audit-log': { who: staff(), thing: 'org' },
  'GET /v1/orgs/:id/members': { who: members({ mak: 'members:read' }), thing: 'org' },
  'GET /v1/orgs/:id/members/:user_id': { who: members({ mak: 'members:read' }), thing: 'member' },
  'PATCH /v1/orgs/:id/members/:user_id': { who: staff(), thing: 'member', body: { rpm_limit: 5 } },
  'DELETE /v1/orgs/:id/members/:user_id': { who: staff(), thing: 'member', isFresh: true, status: 204 },
  'POST /v1/orgs/:id/invitations': {
    who: staff(),
    thing: 'org',
    status: 201,
    body: () => ({ ...anEmail(), role: 'member' }),
  },
  'GET /v1/orgs/:id/invitations': { who: members({ mak: 'members:read' }), thing: 'org' },
  'DELETE /v1/orgs/:id/invitations/:invitation_id': {
    who: staff(),
    thing: 'invitation',
    isFresh: true,
    status: 204,
  },
  'POST /v1/orgs/:id/views': { who: members(), thing: 'org', status: 201, body: aView },
  'GET /v1/orgs/:id/views': { who: members(), thing: 'org' },
  'PATCH /v1/orgs/:id/views/:view_id': { who: VIEW_STAFF, thing: 'view', body: {} },
  'DELETE /v1/orgs/:id/views/:view_id': { who: VIEW_STAFF, thing: 'view', isFresh: true, status: 204 },
  'POST /v1/orgs/:id/teams': { who: staff(), thing: 'org', status: 201, body: { name: 'A team' } },
  'GET /v1/orgs/:id/teams': { who: members({ mak: 'members:read' }), thing: 'org' },
  'GET /v1/teams/:id': { who: members({ mak: 'members:read' }), thing: 'team' },
  'PATCH /v1/teams/:id': { who: staff(), thing: 'team', body: { name: 'Renamed' } },
  'DELETE /v1/teams/:id': { who: staff(), thing: 'team', isFresh: true, status: 204 },
  'GET /v1/teams/:id/members': { who: members({ mak: 'members:read' }), thing: 'team' },
  'PUT /v1/teams/:id/members/:user_id': { who: staff(), thing: 'teamMember', body: {} },
  'DELETE /v1/teams/:id/members/:user_id': {
    who: staff(),
    thing: 'teamMember',
    isFresh: true,
    status: 204,
  },
};

const UNKNOWN_BUDGET = { who: SUPER, status: 404, params: { id: 'bud_0' } };

const BUDGETS: Rows = {
  'POST /v1/budgets': {
    who: staff(),
    org: 'body',
    status: 422,
    body: () => ({ scope: 'key', scope_id: 'key_0', name: 'Ours', amount_usd: '1', period: 'day' }),
  },
  'GET /v1/budgets': { who: PEOPLE },
  'GET /v1/budgets/:id': { who: makers(), thing: 'budget' },
  'PATCH /v1/budgets/:id': { who: staff(), thing: 'budget', body: { is_enabled: false } },
  'POST /v1/budgets/:id/raise': {
    who: staff(),
    thing: 'budget',
    body: () => ({ by_usd: '1', until: new Date(Date.now() + 60_000).toISOString() }),
  },
  'DELETE /v1/budgets/:id/raise': { who: staff(), thing: 'budget' },
  'DELETE /v1/budgets/:id': { who: staff(), thing: 'budget', isFresh: true, status: 204 },
  'POST /v1/admin/budgets': { who: SUPER, status: 422, body: {} },
  'GET /v1/admin/budgets': { who: SUPER },
  'GET /v1/admin/budgets/:id': UNKNOWN_BUDGET,
  'PATCH /v1/admin/budgets/:id': { ...UNKNOWN_BUDGET, body: {} },
  'DELETE /v1/admin/budgets/:id': UNKNOWN_BUDGET,
  'POST /v1/admin/budgets/:id/raise': {
    ...UNKNOWN_BUDGET,
    body: () => ({ by_usd: '1', until: new Date(Date.now() + 60_000).toISOString() }),
  },
  'DELETE /v1/admin/budgets/:id/raise': UNKNOWN_BUDGET,
};

const TEMPLATES: Rows = {
  'POST /v1/routing-policy-templates': {
    who: staff(),
    org: 'body',
    status: 201,
    body: () => ({ name: randomUUID(), routing_policy: { max_retries: 1 } }),
  },
  'GET /v1/routing-policy-templates': { who: PEOPLE },
  'GET /v1/routing-policy-templates/:id': { who: members(), thing: 'routing' },
  'PATCH /v1/routing-policy-templates/:id': {
    who: staff(),
    thing: 'routing',
    body: () => ({ name: randomUUID() }),
  },
  'DELETE /v1/routing-policy-templates/:id': { who: staff(), thing: 'routing', isFresh: true, status: 204 },
  'POST /v1/templates': { who: staff(), org: 'body', status: 201, body: () => ({ name: randomUUID() }) },
  'GET /v1/templates': { who: { people: 'all', rsk: 'templates:read' } },
  'GET /v1/templates/:id': { who: PROMPT_READ, thing: 'prompt' },
  'PATCH /v1/templates/:id': { who: PROMPT_STAFF, thing: 'prompt', body: { description: 'x' } },
  'DELETE /v1/templates/:id': { who: PROMPT_STAFF, thing: 'prompt', isFresh: true, status: 204 },
  'GET /v1/templates/:id/versions': { who: PROMPT_READ, thing: 'prompt' },
  'POST /v1/templates/:id/versions': {
    who: PROMPT_STAFF,
    thing: 'prompt',
    status: 201,
    body: { messages: [{ role: 'user', content: 'Hello' }] },
  },
  'GET /v1/templates/:id/versions/:version_id': { who: PROMPT_READ, thing: 'prompt' },
  'POST /v1/templates/:id/publish': {
    who: PROMPT_STAFF,
    thing: 'prompt',
    body: ({ thing }: Making) => ({ version_id: thing.version_id }),
  },
  // It is the published one already.
  'POST /v1/templates/:id/versions/:version_id/rollback': {
    who: PROMPT_STAFF,
    thing: 'prompt',
    status: 409,
  },
  'PUT /v1/memories/:end_user_id': {
    who: MEMORY,
    org: 'query',
    params: { end_user_id: 'u' },
    body: { items: [] },
  },
  'GET /v1/memories/:end_user_id': { who: MEMORY, org: 'query', params: { end_user_id: 'u' } },
  'DELETE /v1/memories/:end_user_id': {
    who: MEMORY,
    org: 'query',
    params: { end_user_id: 'u' },
    status: 204,
  },
};

const AUTH: Rows = {
  'POST /auth/login': { who: EVERYBODY, status: 401, body: () => ({ ...anEmail(), password: 'no' }) },
  'POST /auth/refresh': { who: EVERYBODY, status: 401, body: {} },
  'POST /auth/logout': { who: EVERYBODY, status: 204, body: { refresh_token: 'unknown' } },
  'GET /auth/me': { who: PEOPLE },
  'PATCH /auth/me': { who: PEOPLE, body: {} },
  'GET /auth/options': { who: EVERYBODY },
  // No identity provider is set up here.
  'GET /auth/oidc/start': { who: EVERYBODY, status: 404 },
  'GET /auth/oidc/callback': { who: EVERYBODY, status: 401 },
  'GET /auth/sessions': { who: PEOPLE },
  'DELETE /auth/sessions': { who: PEOPLE, status: 204 },
  'DELETE /auth/sessions/:id': { who: PEOPLE, status: 404, params: { id: 'ses_0' } },
  'POST /auth/password/change': {
    who: PEOPLE,
    status: 422,
    body: { current_password: 'no', new_password: 'no' },
  },
  'POST /auth/password/forgot': { who: EVERYBODY, status: 204, body: anEmail },
  'POST /auth/password/reset': {
    who: EVERYBODY,
    status: 422,
    body: { token: 'unknown', password: 'long enough' },
  },
  'POST /auth/invitations/accept': {
    who: EVERYBODY,
    status: 422,
    body: { token: 'unknown', password: 'long enough' },
  },
  'GET /.well-known/jwks.json': { who: EVERYBODY },
  'GET /v1/admin/super-admins': { who: SUPER },
  'GET /v1/admin/organization-defaults': { who: SUPER },
  'PUT /v1/admin/organization-defaults': { who: SUPER, body: {} },
  'POST /v1/admin/super-admins': { who: SUPER, status: 422, body: { email: 'nobody@example.com' } },
  'DELETE /v1/admin/super-admins/:user_id': { who: SUPER, thing: 'superAdmin', isFresh: true, status: 204 },
  'PUT /v1/admin/discounts/:account': {
    who: SUPER,
    status: 422,
    params: { account: 'org_0' },
    body: { pct: '101' },
  },
};

const INTERNAL: Rows = Object.fromEntries<Row>(
  [
    ...['POST /internal/provider-keys/open', 'POST /internal/provider-keys/uses'],
    ...['POST /internal/platform-credentials/open', 'POST /internal/platform-credentials/sync'],
    ...[
      'POST /internal/content/template',
      'POST /internal/content/memories',
      'GET /internal/orgs/:id/owners',
    ],
    ...['POST /internal/directory/names', 'GET /internal/directory/orgs/:id/people/:user_id/teams'],
    ...[
      'POST /internal/directory/forget',
      'POST /internal/directory/audit',
      'POST /internal/directory/content-promises',
      'GET /internal/directory/payers/:id',
    ],
    ...['POST /internal/principals/resolve', 'POST /internal/principals/keys'],
    'POST /internal/principals/by-id',
  ].map((route) => [route, { who: FLEET, params: { id: 'org_0', user_id: 'usr_0' } }]),
);

/** Endpoints of the keys service, and the simulation of limits beside them. */
export const KEYS_ROWS: Rows = {
  ...KEYS,
  ...PROVIDER_KEYS,
  ...PLATFORM_CREDENTIALS,
  ...ORGS,
  ...BUDGETS,
  ...TEMPLATES,
  ...AUTH,
  ...INTERNAL,
};

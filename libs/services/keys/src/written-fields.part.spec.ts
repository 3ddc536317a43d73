import {
  CreateAdminKeyBody,
  CreateBudgetBody,
  CreateInvitationBody,
  CreateKeyBody,
  CreateOrgBody,
  CreateProviderKeyBody,
  CreateRoutingPolicyTemplateBody,
  CreateTeamBody,
  CreateTemplateBody,
  CreateTemplateVersionBody,
  CreateViewBody,
  PutMemoriesBody,
  ScopeLimitsBody,
  UpdateBudgetBody,
  UpdateKeyBody,
  UpdateMeBody,
  UpdateMemberBody,
  UpdateOrgBody,
  UpdateProviderKeyBody,
  UpdateRoutingPolicyTemplateBody,
  UpdateTeamBody,
  UpdateTemplateBody,
} from '@gateway/contracts';
import { getMetadataStorage } from 'class-validator';
import type { Answer } from './keys-app.fixture.js';
import { keys } from './written-keys.fixture.js';

type Json = Record<string, unknown>;
type Ids = Record<string, string>;

/** One body of the management API: a value of each of its fields, where it is sent and where it is read. */
interface Written {
  body: new () => object;
  method: 'POST' | 'PUT' | 'PATCH';
  path: (ids: Ids) => string;
  /** The path of what was written, by the answer of the write. */
  read: (ids: Ids, answer: Json) => string;
  /** The record in the answer of the read. */
  record?: (read: Json, written: Json) => Json | undefined;
  fields: (ids: Ids) => Json;
  /** Fields that are read by another name; null = write only. */
  readAs?: Readonly<Record<string, string | null>>;
  /** Returns the members that the body needs beside one field. */
  needs?: (ids: Ids) => Json;
}

const LIMITS = {
  rpm_limit: 7,
  rpd_limit: 77,
  tpm_limit: 777,
  spend_cap_usd: '7.000000000001',
  allowed_models: ['simulator/*', 'openai/gpt-4o'],
  blocked_models: ['simulator/claude'],
};
const ORG = {
  ...LIMITS,
  name: 'Renamed',
  default_api_version: '2026-09',
  tier: 'enterprise',
  credit_limit_usd: '12.5',
  realtime_enabled: false,
  realtime_max_sessions: 3,
  realtime_max_seconds: 60,
  realtime_max_tokens: 1_000,
  request_logging: { enabled: true, retention_days: 7, redact: false },
};
const POLICY = {
  max_retries: 1,
  allow_fallbacks: false,
  sort: 'price',
  max_price: { prompt_usd_per_1m: '2' },
};
const { rpm_limit: rpm, rpd_limit: rpd, tpm_limit: tpm, ...LISTS } = LIMITS;
const KEY = (ids: Ids): Json => ({
  ...{ rpm, rpd, tpm, ...LISTS },
  label: 'A label',
  default_model: 'simulator/chat',
  model_limits: { 'simulator/chat': { rpm: 3, spend_cap_usd: '1' } },
  team_id: ids.team,
  routing_policy: POLICY,
  api_version: '2026-09',
  fixed_provider: 'simulated',
  scopes: ['inference:write', 'usage:read'],
  response_cache: { enabled: true, ttl_seconds: 60 },
  request_tags: { cost: 'centre' },
  expires_at: '2030-01-01T00:00:00.000Z',
});
const KEY_NAMES = { rpm: 'rpm_limit', rpd: 'rpd_limit', tpm: 'tpm_limit' };
const TEMPLATE = { name: 'a-name', description: 'What it is for' };
const byId =
  (id: string) =>
  (read: Json, written: Json): Json | undefined =>
    (read.data as Json[]).find((one) => one[id] === written[id]);

/** A name of a view is once on a page. */
let needed = 0;

const BODIES: Record<string, Written> = {
  'POST /v1/keys': {
    body: CreateKeyBody,
    method: 'POST',
    path: () => '/v1/keys',
    read: (_ids, { id }) => `/v1/keys/${String(id)}`,
    fields: (ids) => ({ ...KEY(ids), org_id: ids.org, routing_policy_template_id: null }),
    readAs: KEY_NAMES,
    needs: ({ org }) => ({ org_id: org }),
  },
  'PATCH /v1/keys/{id}': {
    body: UpdateKeyBody,
    method: 'PATCH',
    path: ({ key }) => `/v1/keys/${key}`,
    read: ({ key }) => `/v1/keys/${key}`,
    fields: (ids) => ({ ...KEY(ids), routing_policy: null, routing_policy_template_id: ids.routing }),
    readAs: KEY_NAMES,
  },
  'POST /v1/orgs': {
    body: CreateOrgBody,
    method: 'POST',
    path: () => '/v1/orgs',
    read: (_ids, { id }) => `/v1/orgs/${String(id)}`,
    fields: () => ORG,
    needs: () => ({ name: 'Needed' }),
  },
  'PATCH /v1/orgs/{id}': {
    body: UpdateOrgBody,
    method: 'PATCH',
    path: ({ org }) => `/v1/orgs/${org}`,
    read: ({ org }) => `/v1/orgs/${org}`,
    fields: () => ORG,
  },
  'PATCH /v1/orgs/{id}/members/{user_id}': {
    body: UpdateMemberBody,
    method: 'PATCH',
    path: ({ org, member }) => `/v1/orgs/${org}/members/${member}`,
    read: ({ org, member }) => `/v1/orgs/${org}/members/${member}`,
    fields: () => ({ ...LIMITS, role: 'admin' }),
  },
  'POST /v1/orgs/{id}/views': {
    body: CreateViewBody,
    method: 'POST',
    path: ({ org }) => `/v1/orgs/${org}/views`,
    read: ({ org }) => `/v1/orgs/${org}/views`,
    record: byId('id'),
    fields: () => ({ page: '/requests', name: 'A view', search: { status: 'error' } }),
    needs: () => ({ page: '/usage', name: `Needed ${needed++}`, search: {} }),
  },
  'POST /v1/orgs/{id}/invitations': {
    body: CreateInvitationBody,
    method: 'POST',
    path: ({ org }) => `/v1/orgs/${org}/invitations`,
    read: ({ org }) => `/v1/orgs/${org}/invitations`,
    record: byId('id'),
    fields: () => ({ email: 'new@example.com', role: 'admin' }),
    needs: () => ({ email: 'other@example.com', role: 'member' }),
  },
  'POST /v1/orgs/{id}/teams': {
    body: CreateTeamBody,
    method: 'POST',
    path: ({ org }) => `/v1/orgs/${org}/teams`,
    read: (_ids, { id }) => `/v1/teams/${String(id)}`,
    fields: () => ({ ...LIMITS, name: 'A team' }),
    needs: () => ({ name: 'Needed' }),
  },
  'PATCH /v1/teams/{id}': {
    body: UpdateTeamBody,
    method: 'PATCH',
    path: ({ team }) => `/v1/teams/${team}`,
    read: ({ team }) => `/v1/teams/${team}`,
    fields: () => ({ ...LIMITS, name: 'Renamed' }),
  },
  'PUT /v1/teams/{id}/members/{user_id}': {
    body: ScopeLimitsBody,
    method: 'PUT',
    path: ({ team, member }) => `/v1/teams/${team}/members/${member}`,
    read: ({ team }) => `/v1/teams/${team}/members`,
    record: byId('user_id'),
    fields: () => LIMITS,
  },
  'POST /v1/admin-keys': {
    body: CreateAdminKeyBody,
    method: 'POST',
    path: () => '/v1/admin-keys',
    read: () => '/v1/admin-keys',
    record: byId('id'),
    fields: ({ org }) => ({
      org_id: org,
      label: 'An admin key',
      scopes: ['keys:read'],
      expires_at: '2030-01-01T00:00:00.000Z',
    }),
    needs: ({ org }) => ({ org_id: org, scopes: ['keys:read'] }),
  },
  'POST /v1/provider-keys': {
    body: CreateProviderKeyBody,
    method: 'POST',
    path: () => '/v1/provider-keys',
    read: (_ids, { id }) => `/v1/provider-keys/${String(id)}`,
    fields: ({ org }) => ({
      ...{ provider: 'openai', credentials: { api_key: 'sk-written' }, org_id: org },
      ...{ label: 'Ours', allowed_models: ['openai/*'], allow_platform_fallback: false, is_enabled: false },
    }),
    readAs: { credentials: null },
    needs: () => ({ provider: 'openai', credentials: { api_key: 'sk-needed' } }),
  },
  'PATCH /v1/provider-keys/{id}': {
    body: UpdateProviderKeyBody,
    method: 'PATCH',
    path: ({ providerKey }) => `/v1/provider-keys/${providerKey}`,
    read: ({ providerKey }) => `/v1/provider-keys/${providerKey}`,
    fields: () => ({
      ...{ credentials: { api_key: 'sk-changed' }, label: 'Theirs', allowed_models: ['openai/gpt-4o'] },
      ...{ allow_platform_fallback: false, is_enabled: false },
    }),
    readAs: { credentials: null },
  },
  'POST /v1/budgets': {
    body: CreateBudgetBody,
    method: 'POST',
    path: () => '/v1/budgets',
    read: (_ids, { id }) => `/v1/budgets/${String(id)}`,
    fields: ({ org }) => ({
      ...{ org_id: org, scope: 'org', scope_id: org, name: 'Autumn', amount_usd: '12.5', period: 'rolling' },
      ...{ time_zone: 'UTC', rolling_days: 30, is_enabled: false, is_hard: false, thresholds_pct: [50, 80] },
    }),
    readAs: { time_zone: null },
    needs: ({ org, team }) => ({
      ...{ org_id: org, scope: 'team', scope_id: team, name: 'Autumn', amount_usd: '12.5', period: 'day' },
    }),
  },
  'PATCH /v1/budgets/{id}': {
    body: UpdateBudgetBody,
    method: 'PATCH',
    path: ({ budget }) => `/v1/budgets/${budget}`,
    read: ({ budget }) => `/v1/budgets/${budget}`,
    fields: () => ({
      ...{ name: 'Winter', amount_usd: '13', period: 'rolling', time_zone: 'UTC', is_enabled: false },
      ...{ rolling_days: 14, is_hard: false, thresholds_pct: [100, 50] },
    }),
    readAs: { time_zone: null },
  },
  'POST /v1/routing-policy-templates': {
    body: CreateRoutingPolicyTemplateBody,
    method: 'POST',
    path: () => '/v1/routing-policy-templates',
    read: (_ids, { id }) => `/v1/routing-policy-templates/${String(id)}`,
    fields: ({ org }) => ({ org_id: org, name: 'Careful', routing_policy: POLICY }),
    needs: ({ org }) => ({ org_id: org, name: 'Needed', routing_policy: {} }),
  },
  'PATCH /v1/routing-policy-templates/{id}': {
    body: UpdateRoutingPolicyTemplateBody,
    method: 'PATCH',
    path: ({ routing }) => `/v1/routing-policy-templates/${routing}`,
    read: ({ routing }) => `/v1/routing-policy-templates/${routing}`,
    fields: () => ({ name: 'Renamed', routing_policy: POLICY }),
  },
  'POST /v1/templates': {
    body: CreateTemplateBody,
    method: 'POST',
    path: () => '/v1/templates',
    read: (_ids, { id }) => `/v1/templates/${String(id)}`,
    fields: ({ org }) => ({ ...TEMPLATE, org_id: org }),
    needs: () => ({ name: 'needed' }),
  },
  'PATCH /v1/templates/{id}': {
    body: UpdateTemplateBody,
    method: 'PATCH',
    path: ({ prompt }) => `/v1/templates/${prompt}`,
    read: ({ prompt }) => `/v1/templates/${prompt}`,
    fields: () => ({ name: 'renamed', description: 'Another', archived: true }),
  },
  'POST /v1/templates/{id}/versions': {
    body: CreateTemplateVersionBody,
    method: 'POST',
    path: ({ prompt }) => `/v1/templates/${prompt}/versions`,
    read: ({ prompt }, { id }) => `/v1/templates/${prompt}/versions/${String(id)}`,
    fields: () => ({
      messages: [{ role: 'user', content: 'Hello {{name}}' }],
      variables: [{ name: 'name', type: 'string', required: false, default: 'you' }],
      defaults: { temperature: 0.5 },
      tools: [{ type: 'function', function: { name: 'f', parameters: {} } }],
      response_format: { type: 'json_object' },
      notes: 'The first',
    }),
    needs: () => ({ messages: [{ role: 'user', content: 'Needed' }] }),
  },
  'PUT /v1/memories/{end_user_id}': {
    body: PutMemoriesBody,
    method: 'PUT',
    path: () => '/v1/memories/somebody',
    read: () => '/v1/memories/somebody',
    record: ({ items }) => ({ items: (items as Json[]).map(({ text }) => ({ text })) }),
    needs: () => ({ items: [] }),
    fields: () => ({ items: [{ text: 'Likes foxes' }, { text: 'Lives in Oslo' }] }),
  },
  'PATCH /auth/me': {
    body: UpdateMeBody,
    method: 'PATCH',
    path: () => '/auth/me',
    read: () => '/auth/me',
    record: ({ user }) => user as Json,
    fields: () => ({ name: 'A new name', time_zone: 'Europe/Oslo', locale: 'nb-NO' }),
  },
};
const ENTRIES = Object.entries(BODIES);

let ids: Ids;

const send = ({ method, path }: Written, body: Json): Promise<Answer> =>
  keys.call(method, path(ids), { as: keys.admin, body });

function fieldsOf(body: new () => object): string[] {
  const found = getMetadataStorage().getTargetValidationMetadatas(body, '', false, false);
  return [...new Set(found.map(({ propertyName }) => propertyName))].sort();
}

async function begin(): Promise<void> {
  const { orgId: org } = await keys.org(keys.admin);
  const of = async (path: string, body: object): Promise<string> => {
    const { status, text, body: made } = await keys.call('POST', path, { as: keys.admin, body });
    expect([path, status, text]).toEqual([path, 201, expect.any(String)]);
    return String(made.id);
  };
  const credentials = { api_key: 'sk-first' };
  ids = {
    org,
    member: (await keys.person({ orgId: org, role: 'member' })).userId,
    team: await of(`/v1/orgs/${org}/teams`, { name: 'First' }),
    key: await of('/v1/keys', { org_id: org }),
    providerKey: await of('/v1/provider-keys', { org_id: org, provider: 'openai', credentials }),
    budget: await of('/v1/budgets', {
      ...{ org_id: org, scope: 'org', scope_id: org, name: 'First', amount_usd: '1', period: 'day' },
    }),
    routing: await of('/v1/routing-policy-templates', { org_id: org, name: 'First', routing_policy: {} }),
    prompt: await of('/v1/templates', { org_id: org, name: 'first' }),
  };
}

describe('every field that is written', () => {
  beforeEach(begin);

  it.each(ENTRIES)('EDGE-06 %s: every field of its body has a value here', (_route, { body, fields }) => {
    expect(Object.keys(fields(ids)).sort()).toEqual(fieldsOf(body));
  });

  it.each(ENTRIES)('KEY-25 KEY-28 %s: every written field reads back', async (_route, written) => {
    const { fields, read, record = (answer: Json): Json => answer, readAs = {} } = written;
    const sent = fields(ids);
    const answer = await send(written, sent);
    expect([answer.status < 300, answer.text]).toEqual([true, expect.any(String)]);
    const again = await keys.call('GET', read(ids, answer.body), { as: keys.admin });
    expect(again.status).toBe(200);
    const found = record(again.body, { ...answer.body, user_id: ids.member });
    for (const [field, value] of Object.entries(sent)) {
      const name = readAs[field] === undefined ? field : readAs[field];
      if (name === null) expect(again.text).not.toContain(JSON.stringify(value));
      else expect([field, found?.[name]]).toEqual([field, value]);
    }
  });

  /** Returns a value that no field takes; a credential may be any object or text. */
  const wrongOf = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? 5 : { wrong: [] };

  it.each(ENTRIES)(
    'EDGE-06 %s: 422 names the field that is wrong, whichever it is',
    async (_route, written) => {
      const sent = written.fields(ids);
      for (const [field, value] of [...Object.entries(sent), ['no_such_field', null]] as const) {
        const wrong = value === null && field === 'routing_policy' ? 5 : wrongOf(value);
        const { status, body } = await send(written, { ...written.needs?.(ids), [field]: wrong });
        const { code, details = [] } = body.error as { code: string; details?: { loc: string[] }[] };
        expect([field, status, code]).toEqual([field, 422, 'validation_error']);
        expect([field, [...new Set(details.map(({ loc }) => loc[0]))]]).toEqual([field, [field]]);
      }
    },
  );
});

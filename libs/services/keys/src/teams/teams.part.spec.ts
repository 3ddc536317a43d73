import type { Answer, Person } from '../keys-app.fixture.js';
import { keys } from '../organizations.fixture.js';

let owner: Person;
let member: Person;
let org: { orgId: string; accountId: string };

const LIMITS = {
  rpm_limit: 10,
  rpd_limit: 20,
  tpm_limit: 30,
  spend_cap_usd: '12.5',
  allowed_models: ['openai/*'],
  blocked_models: ['openai/gpt-5'],
};
const NONE = Object.fromEntries(Object.keys(LIMITS).map((name) => [name, null]));
const codeOf = ({ status, body }: Answer): unknown[] => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];

async function created(body: object = {}): Promise<Record<string, unknown> & { id: string }> {
  const answer = await keys.call('POST', `/v1/orgs/${org.orgId}/teams`, {
    as: owner,
    body: { name: 'Search', ...body },
  });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return { ...answer.body, id: String(answer.body.id) };
}
const put = (teamId: string, who: Person, body: object = {}): Promise<Answer> =>
  keys.call('PUT', `/v1/teams/${teamId}/members/${who.userId}`, { as: owner, body });

async function begin(): Promise<void> {
  owner = await keys.person();
  org = await keys.org(owner);
  member = await keys.person({ orgId: org.orgId, role: 'member' });
}

describe('teams', () => {
  beforeEach(begin);

  it('ORG-07 201, and each field written reads back, one by one and in the list', async () => {
    const team = await created(LIMITS);
    const { id, created_at, updated_at, ...rest } = team;
    expect(rest).toEqual({ org_id: org.orgId, name: 'Search', ...LIMITS });
    expect([id, updated_at]).toEqual([expect.stringMatching(/^team_/), created_at]);
    expect((await keys.call('GET', `/v1/teams/${id}`, { as: member })).body).toEqual(team);
    const list = await keys.call('GET', `/v1/orgs/${org.orgId}/teams`, { as: member });
    expect(list.body).toEqual({ data: [team], total: 1, limit: 50, offset: 0, next_cursor: null });
    const found = async (q: string): Promise<unknown> =>
      (await keys.call('GET', `/v1/orgs/${org.orgId}/teams?q=${q}`, { as: member })).body.total;
    expect([await found('EAR'), await found('s_arch'), await found('%25')]).toEqual([1, 0, 0]);
    const changed = await keys.call('PATCH', `/v1/teams/${id}`, {
      as: owner,
      body: { name: 'Find', ...NONE },
    });
    expect(changed.body).toMatchObject({ name: 'Find', ...NONE });
    expect((await keys.call('GET', `/v1/teams/${id}`, { as: owner })).body).toEqual(changed.body);
  });

  it('EDGE-07 the list is sorted by name, limit, cap and date; without a value comes last either way', async () => {
    await created({ name: 'Beta', spend_cap_usd: '10' });
    await created({ name: 'Alpha', spend_cap_usd: '9' });
    await created({ name: 'Gamma', rpm_limit: 5 });
    const sorted = async (sort: string): Promise<unknown> => {
      const { body } = await keys.call('GET', `/v1/orgs/${org.orgId}/teams?sort=${sort}`, { as: member });
      return (body.data as { name: string }[]).map(({ name }) => name).join(' ');
    };
    expect(await sorted('name')).toBe('Alpha Beta Gamma');
    expect(await sorted('-name')).toBe('Gamma Beta Alpha');
    expect(await sorted('spend_cap_usd')).toBe('Alpha Beta Gamma');
    expect(await sorted('-spend_cap_usd')).toBe('Beta Alpha Gamma');
    expect(await sorted('-created_at')).toBe('Gamma Alpha Beta');
    const unknown = await keys.call('GET', `/v1/orgs/${org.orgId}/teams?sort=id`, { as: member });
    expect(codeOf(unknown)).toEqual([422, 'validation_error']);
  });

  it.each([
    [{ name: undefined }, 'name'],
    [{ name: '' }, 'name'],
    [{ rpm_limit: 1_001 }, 'rpm_limit'],
    [{ allowed_models: ['x'] }, 'allowed_models'],
    [{ nam: 'x' }, 'nam'],
  ])('422 names the field: %j', async (body, field) => {
    const answer = await keys.call('POST', `/v1/orgs/${org.orgId}/teams`, {
      as: owner,
      body: { name: 'x', ...body },
    });
    expect(codeOf(answer)).toEqual([422, 'validation_error']);
    expect(answer.text).toContain(`"loc":["${field}"`);
  });

  it('ORG-07 DELETE is 409 while an active key is of the team, 204 after it, then 404', async () => {
    const { id } = await created();
    await put(id, member);
    const body = { org_id: org.orgId, team_id: id };
    const key = await keys.call('POST', '/v1/keys', { as: member, body });
    expect(key.status).toBe(201);
    expect(codeOf(await keys.call('DELETE', `/v1/teams/${id}`, { as: owner }))).toEqual([409, 'conflict']);
    await keys.call('DELETE', `/v1/keys/${String(key.body.id)}`, { as: owner });
    expect((await keys.call('DELETE', `/v1/teams/${id}`, { as: owner })).status).toBe(204);
    expect(codeOf(await keys.call('GET', `/v1/teams/${id}`, { as: owner }))).toEqual([404, 'not_found']);
    expect((await keys.call('GET', '/auth/me', { as: member })).body.memberships).toEqual([
      { org_id: org.orgId, role: 'member', teams: [] },
    ]);
  });
});

describe('team members', () => {
  beforeEach(begin);

  it('ORG-08 PUT adds and replaces all limits, DELETE takes out; the session knows at once', async () => {
    const { id } = await created();
    const put1 = await put(id, member, LIMITS);
    const { created_at, ...rest } = put1.body;
    const person = { user_id: member.userId, email: member.email, name: 'A person' };
    expect([put1.status, rest]).toEqual([200, { team_id: id, ...person, ...LIMITS }]);
    const me = await keys.call('GET', '/auth/me', { as: member });
    expect(me.body.memberships).toEqual([{ org_id: org.orgId, role: 'member', teams: [id] }]);
    expect((await put(id, member, { rpm_limit: 4 })).body).toEqual({
      created_at,
      ...rest,
      ...NONE,
      rpm_limit: 4,
    });
    const list = await keys.call('GET', `/v1/teams/${id}/members`, { as: member });
    expect(list.body).toMatchObject({ total: 1, data: [{ user_id: member.userId, rpm_limit: 4 }] });
    const place = `/v1/teams/${id}/members/${member.userId}`;
    expect((await keys.call('DELETE', place, { as: owner })).status).toBe(204);
    expect((await keys.call('DELETE', place, { as: owner })).status).toBe(404);
    expect((await keys.call('GET', `/v1/teams/${id}/members`, { as: owner })).body.total).toBe(0);
  });

  it('ORG-08 LIM-03 its limits bind the member’s keys of the team, and go on doing so after they left it', async () => {
    const { id } = await created();
    await put(id, member, { rpm_limit: 4 });
    const body = { org_id: org.orgId, team_id: id };
    const key = String((await keys.call('POST', '/v1/keys', { as: member, body })).body.key);
    const binding = { effective_rpm_limit: 4, binding: { rpm: 'team_member' } };
    expect((await keys.call('GET', '/v1/key', { as: key })).body.limits).toMatchObject(binding);
    await keys.call('DELETE', `/v1/teams/${id}/members/${member.userId}`, { as: owner });
    expect((await keys.call('GET', '/v1/key', { as: key })).body.limits).toMatchObject(binding);
  });

  it('404 for who is no member of the organization, 422 above its ceiling', async () => {
    const { id } = await created();
    expect(codeOf(await put(id, await keys.person()))).toEqual([404, 'not_found']);
    expect(codeOf(await put(id, member, { rpm_limit: 1_001 }))).toEqual([422, 'validation_error']);
    expect(codeOf(await put(id, member, { role: 'admin' }))).toEqual([422, 'validation_error']);
  });
});

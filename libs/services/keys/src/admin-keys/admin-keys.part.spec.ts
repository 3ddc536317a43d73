import { secretDigest } from '@gateway/platform';
import { clock, keys } from '../fixed-clock.fixture.js';
import { FLEET_TOKEN, type Answer, type Person } from '../keys-app.fixture.js';

let owner: Person;
let member: Person;
let org: { orgId: string; accountId: string };

const begin = async (): Promise<void> => {
  owner = await keys.person();
  org = await keys.org(owner);
  member = await keys.person({ orgId: org.orgId, role: 'member' });
};

const ALL = ['keys:read', 'keys:write', 'usage:read', 'members:read', 'alerts:read', 'alerts:write'];
const codeOf = ({ status, body }: Answer): unknown[] => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];

async function created(more: object = {}): Promise<Record<string, unknown> & { id: string; key: string }> {
  const body = { org_id: org.orgId, label: 'CI', scopes: ALL, ...more };
  const answer = await keys.call('POST', '/v1/admin-keys', { as: owner, body });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return { ...answer.body, id: String(answer.body.id), key: String(answer.body.key) };
}

describe('admin keys', () => {
  beforeEach(begin);

  it('AUTH-32 201 with the secret once; the list shows each field and no secret; 204 ends it at once', async () => {
    const { key, ...record } = await created({ expires_at: '2026-12-01T00:00:00Z' });
    expect(key).toMatch(/^mak_[0-9A-Za-z]{49}$/);
    expect(record).toEqual({
      id: expect.stringMatching(/^mak_/) as string,
      label: 'CI',
      org_id: org.orgId,
      masked_key: `mak_${key.slice(4, 8)}...${key.slice(43, 47)}`,
      scopes: ALL,
      created_by: owner.userId,
      expires_at: '2026-12-01T00:00:00.000Z',
      last_used_at: null,
      created_at: '2026-11-21T12:00:00.000Z',
    });
    const list = await keys.call('GET', `/v1/admin-keys?org_id=${org.orgId}`, { as: owner });
    expect([list.body.data, list.body.total]).toEqual([[record], 1]);
    expect((await keys.call('GET', '/v1/keys', { as: key })).status).toBe(200);
    await keys.call('PATCH', `/v1/orgs/${org.orgId}`, { as: owner, body: { rpm_limit: 7 } });
    const resolved = await keys.call('POST', '/internal/principals/resolve', {
      body: { kind: 'admin_key', digest: secretDigest(key) },
      headers: { 'x-fleet-token': FLEET_TOKEN },
    });
    expect(resolved.body.limits).toMatchObject([{ kind: 'org', id: org.orgId, rpm: 7, rpd: null }]);
    const gone = `/v1/admin-keys/${record.id}`;
    expect((await keys.call('DELETE', gone, { as: owner })).status).toBe(204);
    expect(codeOf(await keys.call('GET', '/v1/keys', { as: key }))).toEqual([401, 'unauthorized']);
    expect(codeOf(await keys.call('DELETE', gone, { as: owner }))).toEqual([404, 'not_found']);
    const stored = await keys.database.prisma.$queryRaw<{ all: string }[]>`
      SELECT string_agg(k::text, ' ') AS all FROM admin_key k`;
    expect(stored[0].all).not.toContain(key.slice(8, 43));
  });

  it('EDGE-08 a replay by Idempotency-Key answers the record without the secret', async () => {
    const expires_at = new Date(clock.now() + 60_000).toISOString();
    const body = { org_id: org.orgId, scopes: ['usage:read'], expires_at };
    const headers = { 'idempotency-key': 'once' };
    const send = (): Promise<Answer> => keys.call('POST', '/v1/admin-keys', { as: owner, body, headers });
    const [first, second] = [await send(), await send()];
    expect(second.body).toEqual({ ...first.body, key: undefined });
    await clock.advance(61_000);
    expect((await send()).body).toEqual(second.body);
  });

  it('AUTH-05 ST-02 KEY-26 acts as an admin of its organization: reads, creates, changes and suspends keys', async () => {
    const { key } = await created();
    const others = await keys.call('POST', '/v1/keys', { as: member, body: { org_id: org.orgId } });
    const made = await keys.call('POST', '/v1/keys', { as: key, body: { label: 'by CI' } });
    expect([made.status, made.body.org_id, made.body.created_by]).toEqual([201, org.orgId, owner.userId]);
    const list = await keys.call('GET', '/v1/keys', { as: key });
    expect((list.body.data as { id: string }[]).map(({ id }) => id).sort()).toEqual(
      [made.body.id, others.body.id].sort(),
    );
    const id = String(others.body.id);
    expect((await keys.call('GET', `/v1/keys/${id}/limits`, { as: key })).status).toBe(200);
    expect((await keys.call('PATCH', `/v1/keys/${id}`, { as: key, body: { rpm: 3 } })).body.rpm_limit).toBe(
      3,
    );
    const suspended = await keys.call('DELETE', `/v1/keys/${id}`, { as: key });
    expect([suspended.status, suspended.body.status]).toEqual([200, 'suspended']);
    expect(codeOf(await keys.call('GET', '/v1/key', { as: String(others.body.key) }))).toEqual([
      403,
      'forbidden',
    ]);
    const audit = await keys.call('GET', `/v1/orgs/${org.orgId}/audit-log?action=api_key.suspend`, {
      as: owner,
    });
    expect(audit.body.data).toMatchObject([{ actor_kind: 'admin_key', target: id, actor_email: null }]);
  });

  it('AUTH-32 AUTH-33 403 outside its scopes, naming the one that it lacks', async () => {
    const { key } = await created({ scopes: ['keys:read', 'members:read'] });
    expect((await keys.call('GET', `/v1/orgs/${org.orgId}/members`, { as: key })).body.total).toBe(2);
    const refused = await keys.call('POST', '/v1/keys', { as: key, body: {} });
    expect(codeOf(refused)).toEqual([403, 'forbidden']);
    expect(refused.text).toContain('keys:write');
  });

  it('AUTH-32 reaches no other organization, no personal key, and makes no admin key', async () => {
    const { key } = await created();
    const stranger = await keys.person();
    const other = await keys.org(stranger);
    const personal = await keys.call('POST', '/v1/keys', { as: owner, body: {} });
    expect((await keys.call('GET', `/v1/orgs/${other.orgId}/members`, { as: key })).status).toBe(404);
    const foreign = await keys.call('POST', '/v1/keys', { as: key, body: { org_id: other.orgId } });
    expect(codeOf(foreign)).toEqual([403, 'forbidden']);
    const limits = `/v1/keys/${String(personal.body.id)}/limits`;
    expect((await keys.call('GET', limits, { as: key })).status).toBe(404);
    expect((await keys.call('GET', '/v1/admin-keys', { as: key })).status).toBe(403);
    expect((await keys.call('GET', '/v1/key', { as: key })).status).toBe(403);
  });

  it('AUTH-32 is unknown from its expires_at on, to the millisecond', async () => {
    const { key } = await created({ expires_at: new Date(clock.now() + 60_000).toISOString() });
    const use = (): Promise<Answer> => keys.call('GET', '/v1/keys', { as: key });
    await clock.advance(59_999);
    expect((await use()).status).toBe(200);
    await clock.advance(1);
    expect(codeOf(await use())).toEqual([401, 'unauthorized']);
  });

  it.each([
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['keys:read', 'keys:read'] }, 'scopes'],
    [{ scopes: ['inference:write'] }, 'scopes'],
    [{ scopes: undefined }, 'scopes'],
    [{ org_id: undefined }, 'org_id'],
    [{ expires_at: '2026-11-20T00:00:00Z' }, 'expires_at'],
    [{ expires_at: '2027-01-01' }, 'expires_at'],
    [{ expires_at: '9999-12-31T23:59:59-12:00' }, 'expires_at'],
    [{ name: 'x' }, 'name'],
  ])('422 names the field: %j', async (more, field) => {
    const body = { org_id: org.orgId, scopes: ALL, ...more };
    const answer = await keys.call('POST', '/v1/admin-keys', { as: owner, body });
    expect(codeOf(answer)).toEqual([422, 'validation_error']);
    expect(answer.text).toContain(`"loc":["${field}"`);
  });

  it('403 alike for a member, an organization of others and an unknown one', async () => {
    const make = async (as: Person, org_id: string): Promise<unknown> => {
      const answer = await keys.call('POST', '/v1/admin-keys', { as, body: { org_id, scopes: ALL } });
      return answer.body.error;
    };
    const stranger = await keys.person();
    const refused = await make(member, org.orgId);
    expect(refused).toMatchObject({ code: 'forbidden' });
    expect(await make(stranger, org.orgId)).toEqual(refused);
    expect(await make(stranger, 'org_0')).toEqual(refused);
  });
});

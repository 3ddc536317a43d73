import { eventually } from '@gateway/testing';
import type { Answer, Person } from '../keys-app.fixture.js';
import { keys } from '../organizations.fixture.js';

let owner: Person;

async function created(body: object = {}, as = owner): Promise<Record<string, unknown> & { id: string }> {
  const answer = await keys.call('POST', '/v1/orgs', { as, body: { name: 'Acme', ...body } });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return { ...answer.body, id: String(answer.body.id) };
}

const patch = (id: string, body: object, as = owner): Promise<Answer> =>
  keys.call('PATCH', `/v1/orgs/${id}`, { as, body });

const codeOf = ({ status, body }: Answer): unknown[] => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];

const FIELDS = {
  name: 'Acme Research',
  default_api_version: '2026-09',
  rpm_limit: 10,
  rpd_limit: 20,
  tpm_limit: 30,
  spend_cap_usd: '12.5',
  allowed_models: ['openai/*'],
  blocked_models: ['openai/gpt-5'],
};
const EMPTY = {
  default_api_version: null,
  rpm_limit: null,
  rpd_limit: null,
  tpm_limit: null,
  spend_cap_usd: null,
  allowed_models: null,
  blocked_models: null,
  tier: 'standard',
  credit_limit_usd: '0',
  realtime_enabled: true,
  request_logging: { enabled: false, redact: true, retention_days: 30 },
  realtime_max_sessions: null,
  realtime_max_seconds: null,
  realtime_max_tokens: null,
};

async function begin(): Promise<void> {
  owner = await keys.person();
}

describe('POST /v1/orgs', () => {
  beforeEach(begin);

  it('ORG-01 201 answers the record; who makes it is its owner at once', async () => {
    const made = await created(FIELDS);
    const { id, created_at, updated_at, ...rest } = made;
    expect(rest).toEqual({ ...EMPTY, ...FIELDS });
    expect([created_at, updated_at]).toEqual([expect.any(String), created_at]);
    expect(id).toMatch(/^org_/);
    const me = await keys.call('GET', '/auth/me', { as: owner });
    expect(me.body.memberships).toEqual([{ org_id: id, role: 'owner', teams: [] }]);
    expect((await keys.call('POST', '/v1/keys', { as: owner, body: { org_id: id } })).status).toBe(201);
    expect((await keys.call('GET', `/v1/orgs/${id}`, { as: owner })).body).toEqual(made);
  });

  it('EDGE-08 EDGE-09 once per Idempotency-Key, with one audit row', async () => {
    const send = () =>
      keys.call('POST', '/v1/orgs', {
        as: owner,
        body: { name: 'Once' },
        headers: { 'idempotency-key': 'once' },
      });
    const [first, second] = [await send(), await send()];
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect((await keys.call('GET', '/v1/orgs', { as: owner })).body.total).toBe(1);
    const rows = await keys.database.prisma.auditLog.findMany({ where: { org_id: String(first.body.id) } });
    expect(rows).toMatchObject([
      { action: 'org.create', actor_id: owner.userId, target_type: 'org', changed_fields: ['name'] },
    ]);
  });

  it('409 conflict for the 101st of one person', async () => {
    const { id } = await created();
    const now = new Date(0);
    const rows = Array.from({ length: 99 }, (_, n) => ({ id: `org_${owner.userId}_${n}`, name: 'x' }));
    const { prisma } = keys.database;
    await prisma.org.createMany({ data: rows.map((row) => ({ ...row, created_at: now, updated_at: now })) });
    const memberships = rows.map((row) => ({
      org_id: row.id,
      user_id: owner.userId,
      role: 'owner',
      created_at: now,
    }));
    await prisma.membership.createMany({ data: memberships });
    const answer = await keys.call('POST', '/v1/orgs', { as: owner, body: { name: 'One more' } });
    expect(codeOf(answer)).toEqual([409, 'conflict']);
    expect((await patch(id, { name: 'still mine' })).status).toBe(200);
  });

  it.each([
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['name null', { name: null }, 'name'],
    ['an unknown field', { nam: 'x' }, 'nam'],
    ['rpm_limit 0', { rpm_limit: 0 }, 'rpm_limit'],
    ['money as a number', { spend_cap_usd: 5 }, 'spend_cap_usd'],
    ['a pattern without brand', { allowed_models: ['gpt-5'] }, 'allowed_models'],
    ['a version that is not served', { default_api_version: '2020-01' }, 'default_api_version'],
    ['an unknown tier', { tier: 'gold' }, 'tier'],
    ['tier null', { tier: null }, 'tier'],
    ['LIM-07 rpm_limit above the standard ceiling', { rpm_limit: 1_001 }, 'rpm_limit'],
    ['LIM-07 rpd_limit above the standard ceiling', { rpd_limit: 1_000_001 }, 'rpd_limit'],
  ])('EDGE-06 422 names the field, on create and on update: %s', async (title, body, field) => {
    const { id } = await created({}, keys.admin);
    const whole = { name: 'Acme', ...body };
    const answers = [await keys.call('POST', '/v1/orgs', { as: keys.admin, body: whole })];
    if (title !== 'no name') answers.push(await patch(id, body, keys.admin));
    for (const answer of answers) {
      expect(codeOf(answer)).toEqual([422, 'validation_error']);
      const { details } = answer.body.error as { details: { loc: string[] }[] };
      expect(details.map(({ loc }) => loc.join('.'))).toContain(field);
    }
  });
});

describe('PATCH /v1/orgs/{id}', () => {
  beforeEach(begin);

  it('ORG-01 changes what it names, clears what is null and leaves the rest', async () => {
    const { id, updated_at: _old, ...before } = await created(FIELDS);
    const answer = await patch(id, { name: 'New', rpm_limit: null, blocked_models: null });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ ...before, name: 'New', rpm_limit: null, blocked_models: null });
    expect((await keys.call('GET', `/v1/orgs/${id}`, { as: owner })).body).toEqual(answer.body);
  });

  it('ORG-10 K10 acts on the next request of a key, of whatever its age', async () => {
    const { id } = await created();
    const { key } = (await keys.call('POST', '/v1/keys', { as: owner, body: { org_id: id } })).body;
    const effective = async (): Promise<unknown> => {
      const { body } = await keys.call('GET', '/v1/key', { as: String(key) });
      return (body.limits as { effective_rpm_limit: number }).effective_rpm_limit;
    };
    expect(await effective()).toBe(100);
    await patch(id, { rpm_limit: 7 });
    expect(await effective()).toBe(7);
  });

  it('VER-07 VER-08 a new default version pins new keys and moves no other', async () => {
    const { id } = await created({ default_api_version: '2026-08' });
    const make = async () => (await keys.call('POST', '/v1/keys', { as: owner, body: { org_id: id } })).body;
    const before = await make();
    await patch(id, { default_api_version: '2026-09' });
    expect([before.api_version, (await make()).api_version]).toEqual(['2026-08', '2026-09']);
    const { body } = await keys.call('GET', `/v1/keys?org_id=${id}`, { as: owner });
    expect(body.data).toContainEqual(expect.objectContaining({ id: before.id, api_version: '2026-08' }));
  });

  it('403 for a member and 404 for the owner of another org, and nothing has changed', async () => {
    const { id, ...rest } = await created();
    const member = await keys.person({ orgId: id, role: 'member' });
    const stranger = await keys.person();
    await created({}, stranger);
    expect(codeOf(await patch(id, { name: 'mine' }, member))).toEqual([403, 'forbidden']);
    expect(codeOf(await patch(id, { name: 'mine' }, stranger))).toEqual([404, 'not_found']);
    // The role comes before the body.
    expect(codeOf(await patch(id, { nam: 1 }, member))).toEqual([403, 'forbidden']);
    expect((await keys.call('GET', `/v1/orgs/${id}`, { as: member })).body).toEqual({ id, ...rest });
  });

  it('an empty body changes nothing, and leaves no audit row', async () => {
    const { id, ...rest } = await created();
    expect((await patch(id, {})).body).toEqual({ id, ...rest });
    expect(await keys.database.prisma.auditLog.count({ where: { org_id: id, action: 'org.update' } })).toBe(
      0,
    );
  });
});

describe('what only a super admin sets', () => {
  beforeEach(begin);

  it.each([
    { tier: 'enterprise' },
    { credit_limit_usd: '50' },
    { credit_limit_usd: null },
    { realtime_enabled: false },
    { realtime_max_sessions: 2, realtime_max_seconds: 60, realtime_max_tokens: 5_000 },
  ])('ORG-02 RT-03 403 for an owner, 200 for a super admin: %j', async (body) => {
    const { id } = await created();
    expect(codeOf(await patch(id, body))).toEqual([403, 'forbidden']);
    const whole = { name: 'x', ...body };
    expect(codeOf(await keys.call('POST', '/v1/orgs', { as: owner, body: whole }))).toEqual([
      403,
      'forbidden',
    ]);
    expect((await patch(id, body, keys.admin)).body).toMatchObject(body);
    expect((await keys.call('POST', '/v1/orgs', { as: keys.admin, body: whole })).status).toBe(201);
  });

  it('a super admin from outside, or who is a mere member, reads an org and sets nothing else of it', async () => {
    const { id } = await created();
    expect((await keys.call('GET', `/v1/orgs/${id}`, { as: keys.admin })).status).toBe(200);
    expect(codeOf(await patch(id, { name: 'theirs' }, keys.admin))).toEqual([403, 'forbidden']);
    const joined = async (role: string): Promise<unknown[]> => {
      const membership = { org_id: id, user_id: keys.admin.userId, role, created_at: new Date() };
      const where = { org_id_user_id: { org_id: id, user_id: keys.admin.userId } };
      await keys.database.prisma.membership.upsert({ where, create: membership, update: { role } });
      const { status, body } = await patch(id, { spend_cap_usd: '5', tier: 'standard' }, keys.admin);
      return [status, (body.error as { param?: string } | undefined)?.param];
    };
    expect([await joined('member'), await joined('admin')]).toEqual([
      [403, 'spend_cap_usd'],
      [200, undefined],
    ]);
    expect(codeOf(await patch('org_0', { tier: 'standard' }, keys.admin))).toEqual([404, 'not_found']);
  });

  it('LIM-08 the ceiling follows the tier: more with a higher one, which cannot go while it is used', async () => {
    const { id } = await created();
    await patch(id, { tier: 'enterprise' }, keys.admin);
    expect((await patch(id, { rpm_limit: 20_000, rpd_limit: 5_000_000 })).status).toBe(200);
    expect(codeOf(await patch(id, { rpm_limit: 20_001 }))).toEqual([422, 'validation_error']);
    expect(codeOf(await patch(id, { tier: 'standard' }, keys.admin))).toEqual([422, 'validation_error']);
  });

  it('LIM-07 LIM-08 a tier does not go while a key, a model limit, a team or a member is above the lower one', async () => {
    const { id } = await created();
    await patch(id, { tier: 'enterprise' }, keys.admin);
    const make = async (path: string, body: object): Promise<string> =>
      String((await keys.call('POST', path, { as: owner, body })).body.id);
    const key = await make('/v1/keys', { org_id: id, label: 'a', rpm: 5_000 });
    const model = await make('/v1/keys', {
      org_id: id,
      label: 'b',
      model_limits: { 'a/b': { rpd: 2_000_000 } },
    });
    const team = await make(`/v1/orgs/${id}/teams`, { name: 'a', rpm_limit: 5_000 });
    const members = `/v1/orgs/${id}/members/${owner.userId}`;
    const write = (method: 'PATCH' | 'PUT', path: string, body: object) =>
      keys.call(method, path, { as: owner, body });
    const teamMember = `/v1/teams/${team}/members/${owner.userId}`;
    await write('PUT', teamMember, { rpm_limit: 5_000 });
    await write('PATCH', members, { rpd_limit: 2_000_000 });
    for (const [path, body] of [
      [`/v1/keys/${key}`, { rpm: null }],
      [`/v1/keys/${model}`, { model_limits: {} }],
      [`/v1/teams/${team}`, { rpm_limit: 1_000 }],
      [members, { rpd_limit: null }],
    ] as const) {
      expect(codeOf(await patch(id, { tier: 'standard' }, keys.admin))).toEqual([422, 'validation_error']);
      expect((await write('PATCH', path, body)).status).toBe(200);
    }
    const refused = await patch(id, { tier: 'standard' }, keys.admin);
    expect(refused.body).toMatchObject({
      error: { details: [{ type: 'limit_in_use', loc: ['tier'], msg: expect.stringContaining('rpm 5000') }] },
    });
    await write('PUT', teamMember, { rpm_limit: 1_000 });
    expect((await patch(id, { tier: 'standard' }, keys.admin)).body.tier).toBe('standard');
  });
});

describe('DELETE /v1/orgs/{id}', () => {
  beforeEach(begin);

  it('ORG-05 what waits behind it makes nothing in a deleted organization, above all no key that nobody could end', async () => {
    const { id } = await created();
    const make = (path: string, body: object = {}): Promise<Answer> =>
      keys.call('POST', path, { as: owner, body });
    const key = String((await make('/v1/keys', { org_id: id, label: 'a' })).body.id);
    await keys.call('DELETE', `/v1/keys/${key}`, { as: owner });
    const holder = await keys.database.pool.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM account WHERE org_id = $1 FOR UPDATE', [id]);
    const waiting = async (count: number): Promise<void> => {
      const sql = `SELECT count(*)::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await eventually(async () =>
        (await holder.query<{ n: number }>(sql)).rows[0].n >= count ? true : null,
      );
    };
    const removed = keys.call('DELETE', `/v1/orgs/${id}`, { as: owner });
    await waiting(1);
    const late = [
      make('/v1/keys', { org_id: id }),
      make(`/v1/keys/${key}/reactivate`),
      make(`/v1/keys/${key}/rotate`),
    ];
    await waiting(1 + late.length);
    await holder.query('COMMIT');
    holder.release();
    expect((await removed).status).toBe(204);
    expect((await Promise.all(late)).map(codeOf)).toEqual([
      [403, 'forbidden'],
      [404, 'not_found'],
      [404, 'not_found'],
    ]);
    const active = { org_id: id, status: 'active' };
    expect(await keys.database.prisma.apiKey.count({ where: active })).toBe(0);
  });
});

describe('GET /v1/orgs', () => {
  beforeEach(begin);

  it('EDGE-07 pages the orgs of the caller, oldest first; a super admin sees all', async () => {
    const other = await keys.person();
    await created({ name: 'not mine' }, other);
    for (const name of ['a', 'b', 'c']) await created({ name });
    const names = async (query: string, as = owner): Promise<string[]> => {
      const { body } = await keys.call('GET', `/v1/orgs${query}`, { as });
      return (body.data as { name: string }[]).map(({ name }) => name);
    };
    expect(await names('')).toEqual(['a', 'b', 'c']);
    expect(await names('?limit=1&offset=1')).toEqual(['b']);
    expect([await names('?q=B'), await names('?q=_'), await names('?q=%25')]).toEqual([['b'], [], []]);
    const { body } = await keys.call('GET', '/v1/orgs?limit=2', { as: owner });
    expect(body).toMatchObject({ total: 3, limit: 2, offset: 0 });
    expect(await names('?limit=200', keys.admin)).toEqual(
      expect.arrayContaining(['not mine', 'a', 'b', 'c']),
    );
    for (const query of ['?limit=201', '?limit=0', '?offset=-1', '?color=red'])
      expect(codeOf(await keys.call('GET', `/v1/orgs${query}`, { as: owner }))).toEqual([
        422,
        'validation_error',
      ]);
  });
});

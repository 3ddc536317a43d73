import type { Person } from '../keys-app.fixture.js';
import { keys } from '../written-keys.fixture.js';

const owner = keys.admin;
const { orgId } = keys.first;

async function created(body: object, as: Person = owner): Promise<Record<string, unknown>> {
  const answer = await keys.call('POST', '/v1/keys', { as, body });
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.body;
}

const RECORD_FIELDS = [
  'id', 'label', 'masked_key', 'status', 'default_model', 'rpm_limit', 'rpd_limit', 'tpm_limit', 'spend_cap_usd',
  'spent_usd', 'allowed_models', 'blocked_models', 'model_limits', 'org_id', 'team_id', 'created_by',
  'routing_policy', 'routing_policy_template_id', 'api_version', 'fixed_provider', 'scopes', 'response_cache',
  'request_tags', 'expires_at', 'last_used_at', 'created_at', 'updated_at',
]; // prettier-ignore

describe('POST /v1/keys', () => {
  it('KEY-01 KEY-32 KEY-35 KEY-36 201 answers the record with the plaintext in `key`, a new one each time', async () => {
    const one = await created({ label: 'one' });
    const two = await created({ label: 'two' });
    expect(Object.keys(one).sort()).toEqual([...RECORD_FIELDS, 'key', 'notice'].sort());
    expect(one.key).toMatch(/^rsk_[0-9A-Za-z]{49}$/);
    expect(one.key).not.toBe(two.key);
    expect(one.masked_key).toBe(`${String(one.key).slice(0, 8)}...${String(one.key).slice(43, 47)}`);
    expect(one).toMatchObject({ status: 'active', spent_usd: '0', org_id: null, created_by: owner.userId });
  });

  it('KEY-25 KEY-04 KEY-06 KEY-07 KEY-09 KEY-15 stores each field as sent and reports limits under their stored names', async () => {
    const sent = {
      label: 'all of it',
      default_model: 'openai/gpt-5-mini',
      rpm: 10,
      rpd: 20,
      tpm: 30,
      spend_cap_usd: '12.5',
      allowed_models: ['openai/*', 'anthropic/claude-sonnet-4.5'],
      blocked_models: ['openai/gpt-5'],
      model_limits: { 'openai/*': { rpm: 5, spend_cap_usd: '1.25' } },
      org_id: orgId,
      routing_policy: { max_retries: 1, sort: 'price', max_price: { prompt_usd_per_1m: '3' } },
      api_version: '2026-09',
      fixed_provider: 'openai',
      scopes: ['inference:write'],
      response_cache: { enabled: true },
      request_tags: { team: 'search', constructor: 'x' },
      expires_at: '2099-01-01T00:00:00Z',
    };
    const { id } = await created(sent);
    const listed = await keys.call('GET', `/v1/keys?org_id=${orgId}&label=all%20of`, { as: owner });
    const { rpm, rpd, tpm, expires_at, ...rest } = sent;
    expect(listed.body.data).toEqual([
      expect.objectContaining({
        ...rest,
        id,
        rpm_limit: rpm,
        rpd_limit: rpd,
        tpm_limit: tpm,
        response_cache: { enabled: true, ttl_seconds: 300 },
        expires_at: new Date(expires_at).toISOString(),
      }),
    ]);
  });

  it('KEY-27 lists the keys of the caller’s own account alone, and what they can be filtered by, with org_id none', async () => {
    const person = await keys.person();
    await created({ org_id: (await keys.org(person)).orgId }, person);
    const { id } = await created({ label: 'own' }, person);
    const own = async (path: string) => (await keys.call('GET', `${path}?org_id=none`, { as: person })).body;
    expect(await own('/v1/keys')).toMatchObject({ total: 1, data: [{ id }] });
    expect(await own('/v1/keys/filter-options')).toMatchObject({ orgs: [], labels: ['own'] });
  });

  it('KEY-08 422 above the ceilings of the standard tier, on create and on update', async () => {
    const { id } = await created({ rpm: 1_000, rpd: 1_000_000 });
    for (const body of [{ rpm: 1_001 }, { rpd: 1_000_001 }]) {
      expect((await keys.call('POST', '/v1/keys', { as: owner, body })).status).toBe(422);
      expect((await keys.call('PATCH', `/v1/keys/${String(id)}`, { as: owner, body })).status).toBe(422);
    }
  });

  it('LIM-08 LIM-09 an org of a higher tier may set more, up to its own ceiling', async () => {
    for (const [tier, rpm, rpd] of [
      ['enterprise', 20_000, 5_000_000],
      ['platform', 100_000, 10_000_000],
    ] as const) {
      const { orgId: org_id } = await keys.org(owner, { tier });
      await created({ org_id, rpm, rpd });
      for (const body of [
        { org_id, rpm: rpm + 1 },
        { org_id, rpd: rpd + 1 },
      ]) {
        expect((await keys.call('POST', '/v1/keys', { as: owner, body })).status).toBe(422);
      }
    }
  });

  it.each([
    ['an unknown field', { labell: 'x' }, 'labell'],
    ['an unknown field of the policy', { routing_policy: { retries: 1 } }, 'routing_policy.retries'],
    ['max_retries 6', { routing_policy: { max_retries: 6 } }, 'routing_policy.max_retries'],
    ['a JSON number as money', { spend_cap_usd: 5 }, 'spend_cap_usd'],
    ['rpm that is no integer', { rpm: 1.5 }, 'rpm'],
    ['rpm as text', { rpm: '10' }, 'rpm'],
    ['rpm 0', { rpm: 0 }, 'rpm'],
    ['a pattern without brand', { allowed_models: ['gpt-5'] }, 'allowed_models'],
    ['a wildcard in the middle', { blocked_models: ['openai/*-mini'] }, 'blocked_models'],
    [
      'model_limits of another shape',
      { model_limits: { 'openai/*': { rpm: '5' } } },
      'model_limits.openai/*.rpm',
    ],
    [
      'an unknown field of model_limits',
      { model_limits: { 'openai/*': { rps: 5 } } },
      'model_limits.openai/*.rps',
    ],
    ['an unknown scope', { scopes: ['inference:read'] }, 'scopes'],
    ['a version that is not served', { api_version: '2020-01' }, 'api_version'],
    ['a template without org', { routing_policy_template_id: 'rpt_1' }, 'routing_policy_template_id'],
    ['a team without org', { team_id: 'team_1' }, 'team_id'],
    ['an end in the past', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    ['ttl 86401', { response_cache: { enabled: true, ttl_seconds: 86_401 } }, 'response_cache.ttl_seconds'],
  ])('EDGE-06 KEY-38 KEY-39 KEY-40 KEY-20 422 names the field: %s', async (_name, body, field) => {
    const { status, body: answer } = await keys.call('POST', '/v1/keys', { as: owner, body });
    expect(status).toBe(422);
    const { error } = answer as { error: { code: string; details: { loc: string[] }[] } };
    expect(error.code).toBe('validation_error');
    expect(error.details.map(({ loc }) => loc.join('.'))).toContain(field);
  });

  it('KEY-18 KEY-19 422 for a policy beside a template, also when one of them is stored already', async () => {
    const made = await keys.call('POST', '/v1/routing-policy-templates', {
      as: owner,
      body: { org_id: orgId, name: 't', routing_policy: {} },
    });
    const routing_policy_template_id = String(made.body.id);
    const both = { org_id: orgId, routing_policy: { max_retries: 1 }, routing_policy_template_id };
    expect((await keys.call('POST', '/v1/keys', { as: owner, body: both })).status).toBe(422);
    const { id } = await created({ org_id: orgId, routing_policy_template_id });
    const path = `/v1/keys/${String(id)}`;
    expect((await keys.call('PATCH', path, { as: owner, body: { routing_policy: {} } })).status).toBe(422);
    const swap = { routing_policy: {}, routing_policy_template_id: null };
    expect((await keys.call('PATCH', path, { as: owner, body: swap })).status).toBe(200);
  });

  it('KEY-21 stores and reports only the fields of a policy that were set', async () => {
    const { routing_policy } = await created({ routing_policy: { allow_fallbacks: false, sort: null } });
    expect(routing_policy).toEqual({ allow_fallbacks: false });
  });

  it('KEY-16 ERR-33 a team has to belong to the org; one of another org answers like an unknown one', async () => {
    const other = await keys.org(await keys.person());
    const at = { created_at: new Date(0), updated_at: new Date(0), name: 'T' };
    await keys.database.prisma.team.createMany({
      data: [
        { id: 'team_own', org_id: orgId, ...at },
        { id: 'team_far', org_id: other.orgId, ...at },
      ],
    });
    const ask = (team_id: string) =>
      keys.call('POST', '/v1/keys', { as: owner, body: { org_id: orgId, team_id } });
    expect((await ask('team_own')).body.team_id).toBe('team_own');
    const [far, unknown] = [await ask('team_far'), await ask('team_none')];
    expect([far.status, unknown.status]).toEqual([422, 422]);
    expect(far.body.error).toMatchObject({ code: 'unprocessable_entity', param: 'team_id' });
    expect(far.body.error).toEqual(unknown.body.error);
  });

  it('a key gets the pin that its org defaults to at that time, and null sends none', async () => {
    const org = await keys.org(owner, { default_api_version: '2026-09' });
    const { id, api_version } = await created({ org_id: org.orgId });
    expect(api_version).toBe('2026-09');
    await keys.database.prisma.org.update({
      where: { id: org.orgId },
      data: { default_api_version: '2026-08' },
    });
    const listed = await keys.call('GET', `/v1/keys?org_id=${org.orgId}`, { as: owner });
    expect(listed.body.data).toEqual([expect.objectContaining({ id, api_version: '2026-09' })]);
    expect((await created({ org_id: org.orgId, api_version: null })).api_version).toBeNull();
  });

  it('403 for an org that the caller is not in, whether it exists or not', async () => {
    const outsider = await keys.person();
    const ask = (org_id: string) => keys.call('POST', '/v1/keys', { as: outsider, body: { org_id } });
    const [known, unknown] = [await ask(orgId), await ask('org_00000000')];
    expect([known.status, unknown.status]).toEqual([403, 403]);
    expect(known.body.error).toEqual(unknown.body.error);
  });

  it('EDGE-08 KEY-02 replays the first answer without the secret; another body is 409', async () => {
    const ask = (body: object) =>
      keys.call('POST', '/v1/keys', { as: owner, body, headers: { 'idempotency-key': 'once' } });
    const first = await ask({ label: 'idem' });
    const again = await ask({ label: 'idem' });
    const { key, ...record } = first.body;
    expect(key).toMatch(/^rsk_/);
    expect([again.status, again.body]).toEqual([201, record]);
    expect((await ask({ label: 'other' })).status).toBe(409);
    const listed = await keys.call('GET', '/v1/keys?label=idem', { as: owner });
    expect(listed.body.total).toBe(1);
  });

  it('EDGE-08 of many requests with one Idempotency-Key at once one creates', async () => {
    const headers = { 'idempotency-key': 'race' };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () =>
        keys.call('POST', '/v1/keys', { as: owner, body: { label: 'race' }, headers }),
      ),
    );
    expect(answers.filter(({ body }) => body.key !== undefined)).toHaveLength(1);
    expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect((await keys.call('GET', '/v1/keys?label=race', { as: owner })).body.total).toBe(1);
  });
});

describe('PATCH /v1/keys/{id}', () => {
  it('KEY-28 KEY-04 KEY-07 KEY-29 changes what it names, clears what is null and leaves the rest', async () => {
    const before = await created({
      label: 'old',
      rpm: 10,
      tpm: 5,
      api_version: '2026-09',
      request_tags: { a: 'b' },
    });
    const body = { label: 'new', rpm: null, api_version: null };
    const after = await keys.call('PATCH', `/v1/keys/${String(before.id)}`, { as: owner, body });
    const { key: _key, notice: _notice, updated_at: _updated, ...rest } = before;
    expect(after.status).toBe(200);
    expect(after.body).toMatchObject({ ...rest, label: 'new', rpm_limit: null, api_version: null });
  });

  it('422 for org_id, which cannot change', async () => {
    const { id } = await created({});
    const answer = await keys.call('PATCH', `/v1/keys/${String(id)}`, { as: owner, body: { org_id: orgId } });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('org_id')]);
  });

  it('KEY-24 the creator stays when an admin edits the key', async () => {
    const member = await keys.person({ orgId, role: 'member' });
    const admin = await keys.person({ orgId, role: 'admin' });
    const { id } = await created({ org_id: orgId }, member);
    const answer = await keys.call('PATCH', `/v1/keys/${String(id)}`, {
      as: admin,
      body: { label: 'by admin' },
    });
    expect(answer.body).toMatchObject({ label: 'by admin', created_by: member.userId });
  });
});

describe('GET /v1/keys/{id}', () => {
  it('answers the record to its owner and to admins, and 404 to everybody else', async () => {
    const member = await keys.person({ orgId, role: 'member' });
    const other = await keys.person({ orgId, role: 'member' });
    const { id } = await created({ org_id: orgId, label: 'one' }, member);
    const read = (as: Person) => keys.call('GET', `/v1/keys/${String(id)}`, { as });
    for (const as of [member, owner]) {
      const { status, body } = await read(as);
      expect([status, body.label, body.key]).toEqual([200, 'one', undefined]);
    }
    expect((await read(other)).status).toBe(404);
    expect((await keys.call('GET', '/v1/keys/key_unknown', { as: owner })).status).toBe(404);
  });
});

describe('DELETE /v1/keys/{id}', () => {
  it('ST-01 ST-04 ST-05 AUTH-02 suspends: the record stays listed and readable', async () => {
    const { id } = await created({ label: 'to end' });
    const answer = await keys.call('DELETE', `/v1/keys/${String(id)}`, { as: owner });
    expect([answer.status, answer.body.status]).toEqual([200, 'suspended']);
    const listed = await keys.call('GET', '/v1/keys?label=to%20end&status=suspended', { as: owner });
    expect(listed.body.data).toEqual([expect.objectContaining({ id, status: 'suspended' })]);
    expect((await keys.call('GET', `/v1/keys/${String(id)}/limits`, { as: owner })).status).toBe(200);
    expect(await keys.database.prisma.apiKey.count({ where: { id: String(id) } })).toBe(1);
  });

  it('KEY-41 POST /v1/keys/{id}/reactivate lifts it: the same secret is served again', async () => {
    const { id, key } = await created({});
    await keys.call('DELETE', `/v1/keys/${String(id)}`, { as: owner });
    expect((await keys.call('GET', '/v1/key', { as: String(key) })).status).toBe(403);
    expect((await keys.call('POST', `/v1/keys/${String(id)}/reactivate`, { as: owner })).body.status).toBe(
      'active',
    );
    expect((await keys.call('GET', '/v1/key', { as: String(key) })).status).toBe(200);
  });
});

describe('GET /v1/keys', () => {
  it('KEY-26 KEY-33 EDGE-07 pages, filters and sorts', async () => {
    const org = await keys.org(owner);
    const member = await keys.person({ orgId: org.orgId, role: 'member' });
    const org_id = org.orgId;
    await created({ org_id, label: 'Alpha', default_model: 'openai/gpt-5', spend_cap_usd: '9' });
    await created({ org_id, label: 'beta', allowed_models: ['openai/gpt-5'], spend_cap_usd: '10' }, member);
    await created({ org_id, label: 'gamma' });
    const labels = async (query: string) => {
      const { body } = await keys.call('GET', `/v1/keys?org_id=${org_id}&${query}`, { as: owner });
      return (body.data as { label: string }[]).map(({ label }) => label);
    };
    expect(await labels('sort=label')).toEqual(['Alpha', 'beta', 'gamma']);
    expect(await labels('')).toEqual(['gamma', 'beta', 'Alpha']);
    expect(await labels('sort=spend_cap_usd')).toEqual(['Alpha', 'beta', 'gamma']);
    expect(await labels('sort=-spend_cap_usd')).toEqual(['beta', 'Alpha', 'gamma']);
    expect(await labels('sort=expires_at')).toHaveLength(3);
    expect(await labels('label=ALPH')).toEqual(['Alpha']);
    expect(await labels(`created_by=${member.userId}`)).toEqual(['beta']);
    expect((await labels('model=openai/gpt-5')).sort()).toEqual(['Alpha', 'beta']);
    expect(await labels('sort=created_at&limit=1&offset=1')).toEqual(['beta']);
    const page = await keys.call('GET', `/v1/keys?org_id=${org_id}&limit=1`, { as: owner });
    expect(page.body).toMatchObject({ total: 3, limit: 1, offset: 0 });
    expect((await keys.call('GET', `/v1/keys?org_id=${org_id}`, { as: owner })).body.limit).toBe(50);
    expect((await keys.call('GET', '/v1/keys?limit=201', { as: owner })).status).toBe(422);
    expect((await keys.call('GET', '/v1/keys?sort=secret_hmac', { as: owner })).status).toBe(422);
  });

  it('asks the ledger once for a page, and is 503 while it cannot be asked', async () => {
    const { id } = await created({ label: 'spender' });
    keys.funds.spentByScope.set(`key ${String(id)}`, '1.25');
    keys.funds.calls = 0;
    const listed = await keys.call('GET', '/v1/keys', { as: owner });
    expect(listed.body.data).toContainEqual(expect.objectContaining({ id, spent_usd: '1.25' }));
    expect(keys.funds.calls).toBe(1);
    keys.funds.isUnavailable = true;
    const away = await keys.call('GET', '/v1/keys', { as: owner });
    const ended = await keys.call('DELETE', `/v1/keys/${String(id)}`, { as: owner });
    keys.funds.isUnavailable = false;
    expect(away.status).toBe(503);
    expect([ended.status, ended.body.spent_usd]).toEqual([200, null]);
  });

  it('KEY-27 KEY-34 filter-options answers what the caller’s keys can be filtered by, and of no other', async () => {
    const org = await keys.org(owner);
    const member = await keys.person({ orgId: org.orgId, role: 'member' });
    await created({ org_id: org.orgId, label: 'hidden', default_model: 'openai/secret-choice' });
    await created({ org_id: org.orgId, label: 'mine', allowed_models: ['openai/gpt-5'] }, member);
    const { body } = await keys.call('GET', '/v1/keys/filter-options', { as: member });
    expect(body).toEqual({
      orgs: [{ id: org.orgId, name: 'Another org' }],
      teams: [],
      members: [expect.objectContaining({ id: member.userId, email: member.email })],
      statuses: ['active', 'suspended'],
      models: ['openai/gpt-5'],
      api_versions: ['2026-08', '2026-09'],
      labels: ['mine'],
    });
  });

  it('KEY-27 filter-options search labels, models and people, in one organization, and are bounded', async () => {
    const org = await keys.org(owner);
    const elsewhere = await keys.org(owner);
    await created({ org_id: elsewhere.orgId, label: 'nightly elsewhere' });
    for (const label of ['Nightly b', 'nightly a', '100% nightly', 'daily'])
      await created({ org_id: org.orgId, label, default_model: `openai/for-${label.slice(0, 1)}` });
    const ask = async (query: string) =>
      (await keys.call('GET', `/v1/keys/filter-options?org_id=${org.orgId}&${query}`, { as: owner })).body;
    expect((await ask('q=NIGHTLY')).labels).toEqual(['100% nightly', 'Nightly b', 'nightly a']);
    expect((await ask('q=%25')).labels).toEqual(['100% nightly']);
    expect((await ask('q=for-d')).models).toEqual(['openai/for-d']);
    expect(await ask(`q=${encodeURIComponent(owner.email.toUpperCase())}`)).toMatchObject({
      members: [{ id: owner.userId }],
      labels: [],
    });
    expect((await ask('limit=2')).labels).toHaveLength(2);
    expect((await keys.call('GET', '/v1/keys/filter-options?limit=201', { as: owner })).status).toBe(422);
  });
});

it('409 for one key more than an account may have, suspended ones included; many at once pass it by none', async () => {
  const person = await keys.person();
  const most = keys.config.KEYS_PER_ACCOUNT_MAX;
  keys.config.KEYS_PER_ACCOUNT_MAX = 3;
  const { id } = await created({}, person);
  await keys.call('DELETE', `/v1/keys/${String(id)}`, { as: person });
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => keys.call('POST', '/v1/keys', { as: person, body: {} })),
  );
  keys.config.KEYS_PER_ACCOUNT_MAX = most;
  const codes = answers.map(({ status, body }) =>
    status === 409 ? (body.error as { code: string }).code : status,
  );
  expect(codes.sort()).toEqual([201, 201, 'conflict', 'conflict', 'conflict', 'conflict']);
});

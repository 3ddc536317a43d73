import { secretDigest } from '@gateway/platform';
import { FLEET_TOKEN, type Answer, type Person } from '../keys-app.fixture.js';
import { keys } from '../organizations.fixture.js';

const PATH = '/v1/budgets';

let owner: Person;
let orgId: string;

const call = (
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
  as: Person = owner,
): Promise<Answer> => keys.call(method, path, { as, ...(body === undefined ? {} : { body }) });
const post = (body: object = {}, as: Person = owner): Promise<Answer> =>
  call(
    'POST',
    PATH,
    {
      ...{ org_id: orgId, scope: 'org', scope_id: orgId },
      ...{ name: 'Ours', amount_usd: '10', period: 'month' },
      ...body,
    },
    as,
  );
const codeOf = ({ status, body }: Answer): unknown[] => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];
const locOf = ({ body }: Answer): string[] =>
  (body.error as { details: { loc: string[] }[] }).details.map(({ loc }) => loc.join('.'));

async function created(body: object = {}): Promise<Record<string, unknown> & { id: string }> {
  const answer = await post(body);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return { ...answer.body, id: String(answer.body.id) };
}

async function principalOf(secret: string): Promise<Record<string, unknown>> {
  const answer = await keys.call('POST', '/internal/principals/resolve', {
    body: { kind: 'key', digest: secretDigest(secret) },
    headers: { 'x-fleet-token': FLEET_TOKEN },
  });
  return answer.body;
}

describe('budgets of calendar periods', () => {
  beforeEach(async () => {
    owner = await keys.person();
    ({ orgId } = await keys.org(owner));
  });

  it('201 200 204 creates, reads, lists, changes and deletes a budget, each with its audit row', async () => {
    const record = await created({ time_zone: 'America/New_York', amount_usd: '10.50' });
    expect(record).toEqual({
      ...{ id: expect.stringMatching(/^bud_/), org_id: orgId, scope: 'org', scope_id: orgId, name: 'Ours' },
      ...{ amount_usd: '10.5', period: 'month', time_zone: 'America/New_York', raise: null },
      ...{ effective_amount_usd: '10.5', spent_usd: '0', held_usd: '0', is_enabled: true },
      ...{ is_hard: true, thresholds_pct: [], rolling_days: null },
      ...{ period_start: expect.stringMatching(/-01T0[45]:00:00.000Z$/), period_end: expect.any(String) },
      ...{ created_at: expect.any(String), updated_at: expect.any(String) },
    });
    const path = `${PATH}/${record.id}`;
    expect((await call('GET', path)).body).toEqual(record);
    await created({ period: 'day' });
    const page = await call('GET', `${PATH}?org_id=${orgId}&scope=org&scope_id=${orgId}&limit=1`);
    expect(page.body).toEqual({ data: [record], total: 2, limit: 1, offset: 0 });
    const changed = await call('PATCH', path, { amount_usd: '20', time_zone: 'UTC', is_enabled: false });
    expect([changed.status, changed.body]).toEqual([
      200,
      expect.objectContaining({ amount_usd: '20', time_zone: 'UTC', is_enabled: false, name: 'Ours' }),
    ]);
    expect((await call('DELETE', path)).status).toBe(204);
    expect(codeOf(await call('GET', path))).toEqual([404, 'not_found']);
    const rows = await keys.database.prisma.auditLog.findMany({
      where: { target_id: record.id },
      orderBy: { id: 'asc' },
    });
    expect(rows.map(({ action }) => action)).toEqual(['budget.create', 'budget.update', 'budget.delete']);
  });

  it('201 once per Idempotency-Key', async () => {
    const body = { org_id: orgId, scope: 'org', scope_id: orgId, name: 'A', amount_usd: '1', period: 'day' };
    const headers = { 'idempotency-key': 'budget-once' };
    const one = await keys.call('POST', PATH, { as: owner, body, headers });
    const other = await keys.call('POST', PATH, { as: owner, body, headers });
    expect(other.body).toEqual(one.body);
    expect((await call('GET', `${PATH}?org_id=${orgId}`)).body.total).toBe(1);
  });

  it.each([
    ['an amount of nothing', { amount_usd: '0.00' }, 'amount_usd'],
    ['an amount below 0', { amount_usd: '-1' }, 'amount_usd'],
    ['an unknown period', { period: 'year' }, 'period'],
    ['an unknown zone', { time_zone: 'Mars/Olympus' }, 'time_zone'],
    ['a name of two lines', { name: 'a\nb' }, 'name'],
    ['an unknown scope', { scope: 'account' }, 'scope'],
    ['an unknown field', { amount: '1' }, 'amount'],
    ['a threshold above 100', { thresholds_pct: [101] }, 'thresholds_pct'],
    ['a threshold of nothing', { thresholds_pct: [0] }, 'thresholds_pct'],
    ['a threshold between whole numbers', { thresholds_pct: [12.5] }, 'thresholds_pct'],
    ['a threshold that stands twice', { thresholds_pct: [50, 50] }, 'thresholds_pct'],
    ['a rolling one without days', { period: 'rolling' }, 'rolling_days'],
    ['a rolling one of 367 days', { period: 'rolling', rolling_days: 367 }, 'rolling_days'],
    [
      'a rolling one with a zone',
      { period: 'rolling', rolling_days: 7, time_zone: 'Europe/Berlin' },
      'time_zone',
    ],
    ['days of a month', { rolling_days: 7 }, 'rolling_days'],
    ['six thresholds', { thresholds_pct: [1, 2, 3, 4, 5, 6] }, 'thresholds_pct'],
  ])('422 names the field: %s', async (_name, body, field) => {
    const answer = await post(body);
    expect([codeOf(answer), locOf(answer)]).toEqual([[422, 'validation_error'], [field]]);
  });

  it('422 for a key, member, team or organization that this one has not, alike unknown ones', async () => {
    const other = await keys.org(owner);
    const key = await call('POST', '/v1/keys', { org_id: other.orgId });
    for (const [scope, scope_id] of [
      ['key', String(key.body.id)],
      ['key', 'key_0'],
      ['team', 'team_0'],
      ['member', 'usr_0'],
      ['org', other.orgId],
    ])
      expect([scope, ...codeOf(await post({ scope, scope_id }))]).toEqual([
        scope,
        422,
        'unprocessable_entity',
      ]);
  });

  it('a rolling budget has days and neither zone nor end; it becomes one of a period and back', async () => {
    const record = await created({ period: 'rolling', rolling_days: 7 });
    expect(record).toMatchObject({ period: 'rolling', rolling_days: 7, time_zone: null, period_end: null });
    const began = Date.parse(String(record.period_start));
    expect([began % 3_600_000, Math.floor((Date.now() - began) / 86_400_000)]).toEqual([0, 7]);
    const path = `${PATH}/${record.id}`;
    expect((await call('PATCH', path, { rolling_days: 30 })).body).toMatchObject({ rolling_days: 30 });
    expect((await call('PATCH', path, { period: 'month', time_zone: 'Europe/Berlin' })).body).toMatchObject({
      ...{ period: 'month', rolling_days: null, time_zone: 'Europe/Berlin', period_end: expect.any(String) },
    });
    expect(locOf(await call('PATCH', path, { period: 'rolling' }))).toEqual(['rolling_days']);
    expect(locOf(await call('PATCH', path, { rolling_days: 3 }))).toEqual(['rolling_days']);
    expect((await call('PATCH', path, { period: 'rolling', rolling_days: 1 })).body).toMatchObject({
      ...{ period: 'rolling', rolling_days: 1, time_zone: null },
    });
    expect(locOf(await call('PATCH', path, { time_zone: 'Europe/Berlin' }))).toEqual(['time_zone']);
  });

  it('409 for a fifth budget of one scope', async () => {
    for (const period of ['day', 'week', 'month', 'quarter']) await created({ period });
    expect(codeOf(await post())).toEqual([409, 'conflict']);
    const team = await call('POST', `/v1/orgs/${orgId}/teams`, { name: 'Search' });
    await created({ scope: 'team', scope_id: String(team.body.id) });
  });

  it('409 for the budget of a tag or an end user after the 100th, because each key carries them; others may come', async () => {
    const { id } = await created({ scope: 'tag', scope_id: 'n=0' });
    const row = await keys.database.prisma.budget.findUniqueOrThrow({ where: { id } });
    const more = (n: number) => ({ ...row, id: `${id}${n}`, scope_id: `n=${n}` });
    await keys.database.prisma.budget.createMany({ data: Array.from({ length: 98 }, (_, n) => more(n + 1)) });
    await created({ scope: 'end_user', scope_id: 'alice' });
    expect(codeOf(await post({ scope: 'tag', scope_id: 'n=100' }))).toEqual([409, 'conflict']);
    expect(codeOf(await post({ scope: 'end_user', scope_id: 'bob' }))).toEqual([409, 'conflict']);
    await created();
  });

  it('403 404 a member sees the budgets of their keys alone and changes none; a stranger sees nothing', async () => {
    const member = await keys.person({ orgId, role: 'member' });
    const key = await call('POST', '/v1/keys', { org_id: orgId }, member);
    const own = await created({ scope: 'key', scope_id: String(key.body.id) });
    const ofAll = await created();
    const page = await call('GET', `${PATH}?org_id=${orgId}`, undefined, member);
    expect((page.body.data as { id: string }[]).map(({ id }) => id)).toEqual([own.id]);
    expect((await call('GET', `${PATH}/${own.id}`, undefined, member)).status).toBe(200);
    expect(codeOf(await call('GET', `${PATH}/${ofAll.id}`, undefined, member))).toEqual([404, 'not_found']);
    expect(codeOf(await post({}, member))).toEqual([403, 'forbidden']);
    expect(codeOf(await call('PATCH', `${PATH}/${own.id}`, { name: 'B' }, member))).toEqual([
      403,
      'forbidden',
    ]);
    expect(codeOf(await call('DELETE', `${PATH}/${own.id}`, undefined, member))).toEqual([403, 'forbidden']);
    const stranger = await keys.person();
    expect(codeOf(await call('GET', `${PATH}/${own.id}`, undefined, stranger))).toEqual([404, 'not_found']);
    expect(codeOf(await call('GET', `${PATH}?org_id=${orgId}`, undefined, stranger))).toEqual([
      403,
      'forbidden',
    ]);
    expect(codeOf(await post({}, stranger))).toEqual([403, 'forbidden']);
  });

  it('200 raises for a time; a second raise replaces the first, and 422 for one without an end in the next 366 days', async () => {
    const { id } = await created();
    const path = `${PATH}/${id}/raise`;
    const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
    await call('POST', path, { by_usd: '1', until: inDays(2) });
    const until = inDays(1);
    const raised = await call('POST', path, { by_usd: '2.5', until });
    expect([raised.status, raised.body]).toEqual([
      200,
      expect.objectContaining({
        raise: { by_usd: '2.5', until },
        effective_amount_usd: '12.5',
        amount_usd: '10',
      }),
    ]);
    for (const [body, field] of [
      [{ by_usd: '0', until }, 'by_usd'],
      [{ by_usd: '1', until: inDays(-1) }, 'until'],
      [{ by_usd: '1', until: inDays(367) }, 'until'],
      [{ by_usd: '1', until: '2026-11-30' }, 'until'],
    ] as const) {
      const answer = await call('POST', path, body);
      expect([codeOf(answer), locOf(answer)]).toEqual([[422, 'validation_error'], [field]]);
    }
    const ended = await call('DELETE', path);
    expect([ended.status, ended.body]).toEqual([
      200,
      expect.objectContaining({ raise: null, effective_amount_usd: '10' }),
    ]);
  });

  it('shows what the ledger has posted in the period, and null where it cannot be asked', async () => {
    const record = await created({ period: 'week' });
    const [start, end, from] = [record.period_start, record.period_end, record.created_at].map((time) =>
      Date.parse(String(time)),
    );
    const span = `${start}-${end}.${from}`;
    const account = await keys.database.prisma.account.findUniqueOrThrow({ where: { org_id: orgId } });
    keys.funds.spentByScope.set(`org ${orgId}/b:${span} of ${account.id}`, '2.50');
    expect((await call('GET', `${PATH}/${record.id}`)).body).toMatchObject({
      spent_usd: '2.5',
      held_usd: '0',
    });
  });

  it('the limits of a key list the budgets that hold for it and name the one with the least left', async () => {
    const key = await call('POST', '/v1/keys', { org_id: orgId });
    const other = await call('POST', '/v1/keys', { org_id: orgId });
    const path = `/v1/keys/${String(key.body.id)}/limits`;
    expect((await call('GET', path)).body).toMatchObject({ budgets: [], binding: { budget: null } });
    const ofOrg = await created({ amount_usd: '10' });
    const ofKey = await created({ scope: 'key', scope_id: String(key.body.id), amount_usd: '3' });
    await created({ scope: 'key', scope_id: String(other.body.id), amount_usd: '1' });
    const disabled = await created({ amount_usd: '1', is_enabled: false });
    const soft = await created({ amount_usd: '0.5', is_hard: false });
    const limits = (await call('GET', path)).body;
    expect(limits).toMatchObject({
      budgets: [ofOrg, ofKey, soft],
      binding: { budget: ofKey.id, spend_cap: null },
    });
    await call('PATCH', `${PATH}/${disabled.id}`, { is_enabled: true });
    expect((await call('GET', path)).body).toMatchObject({ binding: { budget: disabled.id } });
    const own = await keys.call('GET', '/v1/key', { as: { token: String(key.body.key) } as Person });
    expect([own.status, own.body.remaining]).toEqual([200, expect.objectContaining({ spend_usd: '1' })]);
    expect(own.body.limits).not.toHaveProperty('budgets');
  });

  it('acts on the next request of each key that it holds for, and on no other', async () => {
    const team = await call('POST', `/v1/orgs/${orgId}/teams`, { name: 'Search' });
    const inTeam = await call('POST', '/v1/keys', { org_id: orgId, team_id: String(team.body.id) });
    const outside = await call('POST', '/v1/keys', { org_id: orgId });
    expect((await principalOf(String(outside.body.key))).budgets).toBeUndefined();
    const before = await keys.database.prisma.account.findUniqueOrThrow({ where: { org_id: orgId } });
    const { id } = await created({ scope: 'team', scope_id: String(team.body.id) });
    const after = await keys.database.prisma.account.findUniqueOrThrow({ where: { org_id: orgId } });
    expect([after.version - before.version, after.stamped_version]).toEqual([1, after.version]);
    const grant = {
      ...{
        id,
        name: 'Ours',
        scope: 'team',
        scopeId: String(team.body.id),
        amountUsd: expect.stringMatching(/^10/),
      },
      ...{ raise: null, period: 'month', timeZone: 'UTC', countedFromMs: expect.any(Number) },
      ...{ isHard: true, thresholdsPct: [], rollingDays: null },
    };
    expect((await principalOf(String(inTeam.body.key))).budgets).toEqual([grant]);
    expect((await principalOf(String(outside.body.key))).budgets).toBeUndefined();
    const until = new Date(Date.now() + 60_000);
    await call('POST', `${PATH}/${id}/raise`, { by_usd: '3', until: until.toISOString() });
    expect((await principalOf(String(inTeam.body.key))).budgets).toEqual([
      { ...grant, raise: { byUsd: expect.stringMatching(/^3/), untilMs: until.getTime() } },
    ]);
    await call('DELETE', `${PATH}/${id}/raise`);
    await call('PATCH', `${PATH}/${id}`, { is_hard: false, thresholds_pct: [50, 100] });
    expect((await principalOf(String(inTeam.body.key))).budgets).toEqual([
      { ...grant, isHard: false, thresholdsPct: [50, 100] },
    ]);
    await call('PATCH', `${PATH}/${id}`, { is_enabled: false });
    expect((await principalOf(String(inTeam.body.key))).budgets).toBeUndefined();
    const stored = (): Promise<{ counted_from: Date }> =>
      keys.database.prisma.budget.findUniqueOrThrow({ where: { id } });
    const { counted_from: first } = await stored();
    await call('PATCH', `${PATH}/${id}`, { is_enabled: true });
    // Its counters begin anew with what the ledger has: they missed what came meanwhile.
    expect((await stored()).counted_from.getTime()).toBeGreaterThan(first.getTime());
  });

  it('a budget of a tag or an end user comes with each key of the organization, an end user as an HMAC alone, until their erasure', async () => {
    const key = await keys.call('POST', '/v1/keys', { as: owner, body: { org_id: orgId } });
    const secret = String(key.body.key);
    const tag = await created({ scope: 'tag', scope_id: 'project=a' });
    const user = await created({ scope: 'end_user', scope_id: 'alice@example.com' });
    expect([tag.scope_id, user.scope_id]).toEqual(['project=a', expect.stringMatching(/^[\w-]{43}$/)]);
    const { carriedBudgets, budgets, accountId } = await principalOf(secret);
    expect([budgets, carriedBudgets]).toEqual([
      undefined,
      [tag, user].map(({ id, scope, scope_id }) => expect.objectContaining({ id, scope, scopeId: scope_id })),
    ]);
    const forget = { account_id: accountId, end_user_hash: user.scope_id };
    const headers = { 'x-fleet-token': FLEET_TOKEN };
    expect((await keys.call('POST', '/internal/directory/forget', { body: forget, headers })).status).toBe(
      204,
    );
    expect((await call('GET', `${PATH}/${user.id}`)).status).toBe(404);
    expect((await principalOf(secret)).carriedBudgets).toHaveLength(1);
    for (const scope_id of ['a', '=b', 'a=', 'a=b ', `a=${'b'.repeat(257)}`])
      expect(locOf(await post({ scope: 'tag', scope_id }))).toEqual(['scope_id']);
    expect((await post({ scope: 'tag', scope_id: 'a=b\nc' })).status).toBe(422);
  });
});

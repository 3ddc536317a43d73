import { RequestContents } from '@gateway/contracts';
import { mintSecret, SystemRandom } from '@gateway/platform';
import { eventually, sessionPrincipal, testDatabase, usageRecord, type TestDatabase } from '@gateway/testing';
import { unitContent } from '../contents/contents.fixture.js';
import { FLEET_TOKEN, limitedKey, MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';

const random = new SystemRandom();
const [rsk, scoped, suspended, mak, narrowMak] = [
  mintSecret('rsk_', random),
  mintSecret('rsk_', random),
  mintSecret('rsk_', random),
  mintSecret('mak_', random),
  mintSecret('mak_', random),
];
const tokenOf = (name: string): string => `eyJ${name}.eyJ${name}.${name}`;
const CALLERS: Record<string, string | null> = {
  owner: tokenOf('owner'),
  member: tokenOf('member'),
  outsider: tokenOf('outsider'),
  super_admin: tokenOf('super'),
  rsk,
  scoped,
  suspended,
  mak,
  narrow_mak: narrowMak,
  fleet: FLEET_TOKEN,
  none: null,
};

let place: TestDatabase;
let app: UsageApp;
const record = usageRecord();

beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  app = await startUsageApp(place.url);
  const { principals } = app;
  const membership = { orgId: 'org_1', accountId: 'acct_1', teams: [] };
  principals.add(tokenOf('owner'), sessionPrincipal({ memberships: [{ ...membership, role: 'owner' }] }));
  principals.add(tokenOf('member'), sessionPrincipal({ memberships: [{ ...membership, role: 'member' }] }));
  principals.add(tokenOf('outsider'), sessionPrincipal());
  principals.add(tokenOf('super'), sessionPrincipal({ userId: 'usr_root', isSuperAdmin: true }));
  principals.add(rsk, limitedKey());
  principals.add(scoped, limitedKey({ permissions: ['inference:write'] }));
  principals.add(suspended, limitedKey({ status: 'suspended' }));
  const adminKey = {
    kind: 'admin_key' as const,
    keyId: 'mak_1',
    createdBy: 'usr_1',
    expiresAtMs: null,
    orgId: 'org_1',
    accountId: 'acct_1',
    accountVersion: 1,
  };
  principals.add(mak, { ...adminKey, scopes: ['usage:read'] });
  principals.add(narrowMak, { ...adminKey, scopes: ['keys:read'] });
  await app.post(record);
  await app.app
    .get(RequestContents, { strict: false })
    .keep([unitContent({ request_id: record.request_id })]);
});
afterAll(async () => {
  await app.close();
  await place.drop();
});

describe('every endpoint of the usage service x who calls', () => {
  const read = {
    owner: 200,
    member: 200,
    outsider: 403,
    super_admin: 403,
    rsk: 200,
    scoped: 403,
    suspended: 403,
    mak: 200,
    narrow_mak: 403,
    fleet: 401,
    none: 401,
  };
  const byId = { ...read, outsider: 404, super_admin: 404 };
  const nobody = { ...read, owner: 403, member: 403, outsider: 403, rsk: 403, mak: 403, super_admin: 422 };
  const org = { org_id: 'org_1' };
  const people = { ...read, rsk: 403, mak: 403 };
  const owners = { ...people, member: 403 };
  const all = (status: number) => Object.fromEntries(Object.keys(CALLERS).map((name) => [name, status]));
  const inside = all(404);
  const ofPeople = { ...people, outsider: 404, super_admin: 404 };
  const scopes = [{ kind: 'key', id: 'key_1' }];
  const TABLE: [string, string, object | undefined, Record<string, number>][] = [
    ['POST /v1/usage', '/v1/usage', org, read],
    ['POST /v1/usage/events', '/v1/usage/events', org, read],
    ['POST /v1/usage/rejections', '/v1/usage/rejections', org, read],
    ['GET /v1/usage/events/:id/attempts', `/v1/usage/events/${record.id}/attempts`, undefined, byId],
    ['GET /v1/usage/requests/:id', `/v1/usage/requests/${record.request_id}`, undefined, byId],
    [
      'GET /v1/usage/requests/:id/content',
      `/v1/usage/requests/${record.request_id}/content`,
      undefined,
      ofPeople,
    ],
    ['DELETE /v1/usage/contents', '/v1/usage/contents?org_id=org_1', undefined, { ...owners, owner: 204 }],
    ['POST /internal/contents', '/internal/contents', { contents: [] }, { ...inside, fleet: 204 }],
    ['GET /v1/usage/rate-limits', '/v1/usage/rate-limits?org_id=org_1', undefined, read],
    ['GET /v1/balance', '/v1/balance?org_id=org_1&refresh=true', undefined, read],
    ['POST /v1/usage/series', '/v1/usage/series', { ...org, granularity: 'day' }, { ...read, rsk: 403 }],
    ['GET /v1/usage/spend-trend', '/v1/usage/spend-trend?org_id=org_1', undefined, read],
    ['GET /v1/usage/events/export', '/v1/usage/events/export?org_id=org_1', undefined, people],
    ['POST /v1/usage/exports', '/v1/usage/exports', org, { ...people, owner: 201, member: 201 }],
    ['GET /v1/usage/exports/:token', '/v1/usage/exports/unknown', undefined, all(404)],
    ['GET /v1/billing/payments', '/v1/billing/payments?org_id=org_1', undefined, owners],
    ['GET /v1/billing/ledger', '/v1/billing/ledger?org_id=org_1', undefined, owners],
    ['GET /v1/billing/statement', '/v1/billing/statement?org_id=org_1&month=2026-11', undefined, owners],
    ['GET /v1/billing/auto-recharge', '/v1/billing/auto-recharge?org_id=org_1', undefined, owners],
    ['PUT /v1/billing/auto-recharge', '/v1/billing/auto-recharge', { ...org, enabled: false }, owners],
    [
      'POST /v1/billing/checkout',
      '/v1/billing/checkout',
      { ...org, amount_usd: '0' },
      { ...owners, owner: 422, member: 422, outsider: 422, super_admin: 422 },
    ],
    [
      'POST /v1/billing/coupons/redeem',
      '/v1/billing/coupons/redeem',
      { ...org, code: 'NONE' },
      { ...owners, owner: 404 },
    ],
    ['POST /v1/billing/webhooks/stripe', '/v1/billing/webhooks/stripe', {}, all(403)],
    [
      'POST /v1/end-users/erasures',
      '/v1/end-users/erasures',
      { end_user_id: 'nobody' },
      { ...people, owner: 403, member: 403, rsk: 202 },
    ],
    [
      'GET /v1/end-users/erasures/:id',
      '/v1/end-users/erasures/era_unknown',
      undefined,
      { ...people, owner: 403, member: 403, rsk: 404 },
    ],
    ['POST /v1/admin/coupons', '/v1/admin/coupons', {}, nobody],
    ['GET /v1/admin/coupons', '/v1/admin/coupons', undefined, { ...nobody, super_admin: 200 }],
    ['POST /v1/admin/credits', '/v1/admin/credits', { reason: '' }, nobody],
    ['GET /v1/admin/books', '/v1/admin/books', undefined, { ...nobody, super_admin: 200 }],
    [
      'GET /v1/admin/aliases/:id/shadow',
      '/v1/admin/aliases/alias_none/shadow',
      undefined,
      { ...nobody, super_admin: 200 },
    ],
    [
      'GET /v1/admin/usage/requests/:request_id',
      '/v1/admin/usage/requests/req_none',
      undefined,
      { ...nobody, super_admin: 404 },
    ],
    [
      'POST /internal/gate/:account',
      '/internal/gate/acct_1',
      { gen: 'other', scopes },
      { ...inside, fleet: 204 },
    ],
    ['POST /internal/gate/:account/due', '/internal/gate/acct_1/due', {}, { ...inside, fleet: 204 }],
    ['POST /internal/spend', '/internal/spend', { scopes }, { ...inside, fleet: 200 }],
    ['GET /internal/billing', '/internal/billing', undefined, { ...inside, fleet: 200 }],
    ['GET /internal/balances/:account', '/internal/balances/acct_none', undefined, { ...inside, fleet: 200 }],
    ['POST /internal/credits', '/internal/credits', {}, { ...inside, fleet: 422 }],
    [
      'POST /internal/producers/:producer',
      '/internal/producers/edge-1',
      { epoch: 'e1', is_ended: true },
      { ...inside, fleet: 204 },
    ],
    [
      'GET /internal/watermarks/:producer',
      '/internal/watermarks/edge-1?epoch=e1',
      undefined,
      { ...inside, fleet: 200 },
    ],
    [
      'GET /internal/applied/:producer',
      '/internal/applied/edge-1?epoch=e1&above=0',
      undefined,
      { ...inside, fleet: 200 },
    ],
    [
      'GET /internal/erasures',
      '/internal/erasures?since=2026-01-01T00:00:00.000Z',
      undefined,
      { ...inside, fleet: 200 },
    ],
  ];

  it.each(TABLE)('%s', async (route, path, body, expected) => {
    const method = route.split(' ')[0] as 'GET' | 'POST' | 'PUT' | 'DELETE';
    const found: Record<string, number> = {};
    for (const [name, as] of Object.entries(CALLERS))
      found[name] = (await app.call(method, path, as, body)).status;
    expect(found).toEqual(expected);
  });

  it('names every endpoint that the service has', () => {
    const routes = app.routes.map(({ method, path }) => `${method} ${path}`);
    const own = routes.filter((route) => !/ \/(healthz|readyz|metrics)$/.test(route));
    expect(own.toSorted()).toEqual(TABLE.map(([route]) => route).toSorted());
  });
});

describe('POST /v1/admin/credits', () => {
  const give = (body: object, headers?: Record<string, string>) =>
    app.call(
      'POST',
      '/v1/admin/credits',
      CALLERS['super_admin'],
      { reason: 'a trial', amount_usd: '5', ...body },
      headers,
    );
  const knowAccounts = (...ids: string[]): void => {
    for (const accountId of ids) app.directory.payers.set(accountId, { accountId, orgId: null });
  };

  it('credits once per Idempotency-Key, tells balance.credited and writes the audit log', async () => {
    const key = { 'idempotency-key': 'k-1' };
    knowAccounts('acct_c', 'acct_d');
    const first = await give({ account_id: 'acct_c' }, key);
    expect(first).toMatchObject({
      status: 201,
      body: { account_id: 'acct_c', amount_usd: '5', balance_after: '5' },
    });
    const again = await give({ account_id: 'acct_c' }, key);
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect((await give({ account_id: 'acct_d' }, key)).status).toBe(409);
    await eventually(() => app.log.appended.some(({ record: { key: account } }) => account === 'acct_c'));
    const events = app.log.appended.filter(
      ({ record }) => record.key === 'acct_c' && record.value.includes('balance.credited'),
    );
    expect(JSON.parse(events[0].record.value).data).toMatchObject({
      type: 'balance.credited',
      account_id: 'acct_c',
      data: { amount_usd: '5', balance_after: '5', source: 'admin_grant' },
    });
    const audit = await app.database.pool.query(
      `SELECT action, actor_id, target_id FROM audit_log WHERE action = 'balance.credit'`,
    );
    expect(audit.rows).toEqual([{ action: 'balance.credit', actor_id: 'usr_root', target_id: 'acct_c' }]);
  });

  it('EDGE-08 answers parallel requests of one Idempotency-Key alike: one credit, and no 409', async () => {
    const key = { 'idempotency-key': 'k-parallel' };
    knowAccounts('acct_parallel');
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => give({ account_id: 'acct_parallel' }, key)),
    );
    const [first] = answers;
    expect(first).toMatchObject({ status: 201, body: { balance_after: '5' } });
    for (const { status, body } of answers) expect([status, body]).toEqual([first.status, first.body]);
  });

  it('404 for an account, an org or a person that nobody knows, and for an org that was deleted', async () => {
    const { payers } = app.directory;
    payers.set('org_1', { accountId: 'acct_1', orgId: 'org_1' });
    payers.set('acct_1', { accountId: 'acct_1', orgId: 'org_1' });
    payers.set('org_gone', { accountId: 'acct_gone', orgId: 'org_gone', isClosed: true });
    for (const named of [
      { org_id: 'org_1' },
      { account_id: 'acct_1' },
      { account_id: 'acct_1', org_id: null },
    ])
      expect((await give(named)).body).toMatchObject({ account_id: 'acct_1', org_id: 'org_1' });
    expect((await give({ user_id: 'usr_root' })).body).toMatchObject({ account_id: 'acct_own' });
    for (const named of [
      { org_id: 'org_unseen' },
      { org_id: 'org_gone' },
      { user_id: 'usr_else' },
      { account_id: 'acct_nobody' },
      { account_id: 'org_1' },
      { org_id: null, user_id: 'usr_else' },
    ])
      expect([named, (await give(named)).status]).toEqual([named, 404]);
  });

  it('422 without exactly one of the ids, and for an amount that is none', async () => {
    expect((await give({})).status).toBe(422);
    expect((await give({ org_id: null, user_id: null })).status).toBe(422);
    expect((await give({ org_id: 'org_1', account_id: 'acct_1' })).status).toBe(422);
    expect((await give({ account_id: 'acct_1', amount_usd: '0' })).status).toBe(422);
    expect((await give({ account_id: 'acct_1', amount_usd: 5 })).status).toBe(422);
  });
});

describe('the internal endpoints', () => {
  it('answer spend per scope and watermarks, and take a credit once per source', async () => {
    const scopes = [
      { kind: 'key', id: 'key_1' },
      { kind: 'org', id: 'org_none' },
    ];
    expect((await app.call('POST', '/internal/spend', FLEET_TOKEN, { scopes })).body).toEqual({
      spent_usd: ['0.0015', '0'],
    });
    const unknown = await app.call('GET', '/internal/balances/acct_none', FLEET_TOKEN);
    expect(unknown.body).toEqual({ balance_usd: '0' });
    const watermark = await app.call('GET', '/internal/watermarks/edge-1?epoch=e1', FLEET_TOKEN);
    expect(watermark.body).toEqual({ watermark: record.seq === 1 ? 1 : 0 });
    const applied = (above: number) =>
      app.call('GET', `/internal/applied/edge-1?epoch=e1&above=${above}`, FLEET_TOKEN);
    expect((await applied(0)).body).toEqual({ ranges: [[record.seq, record.seq]] });
    expect((await applied(record.seq)).body).toEqual({ ranges: [] });
    const credit = {
      account_id: 'acct_x',
      org_id: null,
      amount_usd: '2',
      kind: 'admin_grant',
      source: 'opening',
    };
    for (let times = 0; times < 2; times += 1) {
      expect((await app.call('POST', '/internal/credits', FLEET_TOKEN, credit)).status).toBe(204);
    }
    const { rows } = await app.database.pool.query(
      "SELECT trim_scale(posted)::text AS p FROM account WHERE id = 'acct_x'",
    );
    expect(rows).toEqual([{ p: '2' }]);
  });
});

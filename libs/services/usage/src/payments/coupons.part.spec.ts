import { TOPIC, type AuditEntry } from '@gateway/contracts';
import { OutboxRelay } from '@gateway/event-log';
import { jest } from '@jest/globals';
import { usageRecord } from '@gateway/testing';
import { MEMBER, ORG, OWNER, ROOT } from './payments.fixture.js';
import { on } from './shared-payments.fixture.js';

describe('coupons, credits and reads', () => {
  const create = (body: object, as = ROOT) => on.app.call('POST', '/v1/admin/coupons', as, body);
  const redeem = (code: string, as = OWNER, org = true) =>
    on.billing('POST', 'coupons/redeem', { code, ...(org ? ORG : {}) }, as);

  it('PAY-05 EVT-11 EVT-18 a coupon credits an account once, as a coupon and as no payment', async () => {
    await create({ code: 'WELCOME', amount_usd: '3.25', max_redemptions: 2 });
    const { status, body } = await redeem('WELCOME');
    expect([status, body]).toEqual([
      200,
      { id: expect.stringMatching(/^txn_/), amount_usd: '3.25', balance_after: '3.25' },
    ]);
    expect((await redeem('WELCOME')).status).toBe(409);
    expect((await on.events()).map(({ type, data }) => [type, (data as { source: string }).source])).toEqual([
      ['balance.credited', 'coupon'],
    ]);
    expect(await on.faults()).toEqual([]);
  });

  it('PAY-05 EVT-11 the event of a redeemed coupon leaves at once, not with the next poll of the outbox', async () => {
    const wake = jest.spyOn(on.app.app.get(OutboxRelay, { strict: false }), 'wake');
    await create({ code: 'AT-ONCE', amount_usd: '1' });
    expect((await redeem('AT-ONCE')).status).toBe(200);
    expect(wake).toHaveBeenCalledTimes(1);
    wake.mockRestore();
  });

  it('PAY-05 refuses an unknown code, an expired one and one past its redemptions', async () => {
    await create({ code: 'OLD-ONE', amount_usd: '1', expires_at: '2099-01-01T00:00:00Z' });
    await on.app.database.pool.query(`UPDATE coupon SET expires_at = '2020-01-01' WHERE code = 'OLD-ONE'`);
    await create({ code: 'ONLY-1', amount_usd: '1', max_redemptions: 1 });
    expect((await redeem('NOBODY')).status).toBe(404);
    expect((await redeem('OLD-ONE')).status).toBe(409);
    const both = await Promise.all([redeem('ONLY-1'), redeem('ONLY-1', ROOT, false)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  it('PAY-05 A3 a person redeems a coupon once, whichever account pays, and another person of the org does not', async () => {
    await create({ code: 'MANY5', amount_usd: '5', max_redemptions: 100 });
    expect((await redeem('MANY5')).status).toBe(200);
    const again = await redeem('MANY5', OWNER, false);
    expect([again.status, again.body.error.message]).toEqual([
      409,
      'You have used this coupon; a person may use it once.',
    ]);
    expect((await redeem('MANY5', ROOT, false)).status).toBe(200);
    const { body } = await on.app.call('GET', '/v1/admin/coupons', ROOT);
    expect(body.data[0]).toMatchObject({ code: 'MANY5', redemptions: 2 });
  });

  it('PAY-05 A3 guesses of codes wait as log-ins do, and of one person alone', async () => {
    const guess = (n: number, as: string) => redeem(`GUESS-${n}`, as, false);
    const statuses: number[] = [];
    for (let n = 0; n < 7; n += 1) statuses.push((await guess(n, MEMBER)).status);
    expect(statuses).toEqual([404, 404, 404, 404, 404, 429, 429]);
    const held = await guess(8, MEMBER);
    expect(Number(held.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    expect((await guess(9, ROOT)).status).toBe(404);
  });

  it('PAY-07 A3 a coupon without a code gets one that nobody guesses', async () => {
    const made = await Promise.all([create({ amount_usd: '1' }), create({ amount_usd: '1' })]);
    const codes = made.map(({ body }) => String(body.code));
    for (const code of codes) expect(code).toMatch(/^[A-Z2-9]{4}(-[A-Z2-9]{4}){4}$/);
    expect(new Set(codes).size).toBe(2);
    expect((await redeem(codes[0])).status).toBe(200);
  });

  it('PAY-07 a super admin creates and lists coupons, nobody else', async () => {
    const coupon = {
      code: 'SPRING',
      amount_usd: '10',
      max_redemptions: 5,
      expires_at: '2030-01-01T00:00:00.000Z',
    };
    const made = await create(coupon);
    expect([made.status, made.body]).toEqual([
      201,
      { ...coupon, redemptions: 0, created_at: expect.any(String) },
    ]);
    expect((await create(coupon)).status).toBe(409);
    expect((await create({ ...coupon, code: 'XYZ0', amount_usd: '0' })).status).toBe(422);
    const past = await create({ ...coupon, code: 'PAST', expires_at: new Date().toISOString() });
    expect([past.status, past.body.error.details]).toEqual([
      422,
      [{ type: 'value_error', loc: ['expires_at'], msg: 'expires_at must lie in the future.' }],
    ]);
    for (const odd of ['2030-W01', '20200101T000000Z', '9999-12-31T23:59:59-12:00'])
      expect([odd, (await create({ ...coupon, code: 'ODD1', expires_at: odd })).status]).toEqual([odd, 422]);
    const day = await create({ ...coupon, code: 'BY-DAY', expires_at: '2030-01-01' });
    expect(day.body.expires_at).toBe(coupon.expires_at);
    expect((await create(coupon, OWNER)).status).toBe(403);
    expect((await on.app.call('GET', '/v1/admin/coupons', OWNER)).status).toBe(403);
    const { body } = await on.app.call('GET', '/v1/admin/coupons', ROOT);
    expect([body.total, body.data[0].code]).toEqual([2, 'BY-DAY']);
  });

  it('EDGE-08 a coupon is made, and redeemed, once per Idempotency-Key: the first answer again, 409 for another body', async () => {
    const coupon = { code: 'ONCE-ONLY', amount_usd: '2', max_redemptions: 1 };
    const make = (body: object) =>
      on.app.call('POST', '/v1/admin/coupons', ROOT, body, { 'idempotency-key': 'coupon-1' });
    const first = await make(coupon);
    expect([first.status, first.body.code]).toEqual([201, 'ONCE-ONLY']);
    const again = await make(coupon);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect((await make({ ...coupon, amount_usd: '3' })).status).toBe(409);
    const take = () =>
      on.app.call(
        'POST',
        '/v1/billing/coupons/redeem',
        OWNER,
        { code: 'ONCE-ONLY', ...ORG },
        { 'idempotency-key': 'redeem-1' },
      );
    const taken = await take();
    expect(taken).toMatchObject({ status: 200, body: { amount_usd: '2', balance_after: '2' } });
    expect((await take()).body).toEqual(taken.body);
    expect(await on.balance()).toBe('2');
  });

  it('PAY-03 PAY-06 EVT-11 lists payments and the ledger newest first, a credit with its reason', async () => {
    const id = await on.checkout('10');
    await on.deliver(on.captured(id, 1000));
    const grant = { org_id: 'org_1', amount_usd: '5', reason: 'Sorry for the outage' };
    expect((await on.app.call('POST', '/v1/admin/credits', OWNER, grant)).status).toBe(403);
    on.app.directory.payers.set('org_1', { accountId: 'acct_1', orgId: 'org_1' });
    expect((await on.app.call('POST', '/v1/admin/credits', ROOT, grant)).status).toBe(201);
    await on.app.post(usageRecord({ cost_usd: '0.000000000001' }));
    const second = await on.checkout('7');
    const list = (await on.billing('GET', 'payments?org_id=org_1')).body;
    expect(list.data.map((payment: Record<string, string>) => [payment.id, payment.status])).toEqual([
      [second, 'pending'],
      [id, 'succeeded'],
    ]);
    const { body } = await on.billing('GET', 'ledger?org_id=org_1&limit=2');
    expect(body).toMatchObject({ total: 3, limit: 2, offset: 0 });
    expect(body.data).toEqual([
      expect.objectContaining({
        kind: 'usage',
        amount_usd: '-0.000000000001',
        balance_after: '14.999999999999',
      }),
      expect.objectContaining({
        kind: 'admin_grant',
        amount_usd: '5',
        balance_after: '15',
        reason: grant.reason,
      }),
    ]);
    const rest = (await on.billing('GET', 'ledger?org_id=org_1&limit=2&offset=2')).body.data;
    expect(rest).toEqual([expect.objectContaining({ kind: 'payment', balance_after: '10', source: id })]);
    expect((await on.billing('GET', 'ledger?org_id=org_1', undefined, MEMBER)).status).toBe(403);
  });

  it('S04 each write of an organization goes to its audit log, one of a person’s own account to none', async () => {
    await create({ code: 'AUDITED', amount_usd: '1' });
    await on.checkout('10');
    await redeem('AUDITED');
    expect((await redeem('AUDITED')).status).toBe(409);
    await redeem('AUDITED', ROOT, false);
    await on.billing('PUT', 'auto-recharge', { ...ORG, enabled: false });
    expect((await on.billing('PUT', 'auto-recharge', { org_id: null, enabled: false })).status).toBe(200);
    on.app.directory.payers.set('org_1', { accountId: 'acct_1', orgId: 'org_1' });
    await on.app.call('POST', '/v1/admin/credits', ROOT, { ...ORG, amount_usd: '5', reason: 'Hello' });
    const entries = await on.waiting<AuditEntry>(TOPIC.audit);
    expect(entries.map(({ action, actor_id, org_id }) => [action, actor_id, org_id]).toSorted()).toEqual([
      ['auto_recharge.update', 'usr_9', 'org_1'],
      ['balance.credit', 'usr_root', 'org_1'],
      ['coupon.redeem', 'usr_9', 'org_1'],
      ['payment.checkout', 'usr_9', 'org_1'],
    ]);
    const { rows } = await on.app.database.pool.query<{ id: string }>('SELECT id FROM audit_log');
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(entries.map(({ id }) => id)));
  });
});

import { jest } from '@jest/globals';
import { usageRecord } from '@gateway/testing';
import { MEMBER, ORG } from './payments.fixture.js';
import { on } from './shared-payments.fixture.js';
import { emptyTables } from '../postgres/emptied-tables.fixture.js';

describe('auto-recharge', () => {
  const settings = { ...ORG, enabled: true, threshold_usd: '5', amount_usd: '20', monthly_limit_usd: '50' };
  const spend = (cost_usd: string) => on.app.post(usageRecord({ cost_usd }));

  it('PAY-04 EVT-11 a balance below the threshold schedules one recharge, within the monthly limit', async () => {
    await on.deliver(on.captured(await on.checkout('6'), 600));
    const put = await on.billing('PUT', 'auto-recharge', settings);
    const held = {
      enabled: true,
      threshold_usd: '5',
      amount_usd: '20',
      monthly_limit_usd: '50',
      has_payment_method: true,
    };
    expect([put.status, put.body]).toEqual([200, held]);
    expect((await on.billing('GET', 'auto-recharge?org_id=org_1')).body).toEqual(held);
    await on.recharges.advance();
    expect(await on.balance()).toBe('6');
    await emptyTables(on.app.database.pool, 'outbox');
    await spend('2');
    await Promise.all([on.recharges.advance(), on.recharges.advance()]);
    await on.recharges.advance();
    expect(await on.balance()).toBe('24');
    const [charge] = on.stripe.calls.filter(({ path }) => path === '/v1/payment_intents');
    expect(charge.fields).toMatchObject({
      amount: '2000',
      customer: 'cus_1',
      payment_method: 'pm_1',
      off_session: 'true',
    });
    expect(await on.types()).toEqual([
      'auto_recharge.triggered',
      'balance.credited',
      'payment.succeeded',
      'auto_recharge.succeeded',
    ]);
    expect((await on.events())[3].data).toMatchObject({
      amount_usd: '20',
      current_balance_usd: '24',
      recovered: false,
    });
    // Stripe's own report of it changes nothing.
    await on.deliver(on.captured(charge.key, 2000));
    expect(await on.balance()).toBe('24');
    await spend('20');
    await on.recharges.advance();
    await spend('20');
    await on.recharges.advance();
    expect(await on.balance()).toBe('4');
    expect(await on.faults()).toEqual([]);
  });

  it('PAY-04 charges once where a process finds an account due and comes to it when another has charged it', async () => {
    const { directory } = on.app;
    await on.deliver(on.captured(await on.checkout('1'), 100));
    await on.billing('PUT', 'auto-recharge', settings);
    const payer = jest.spyOn(directory, 'payer').mockImplementationOnce(async () => {
      await on.recharges.advance();
      return null;
    });
    await on.recharges.advance();
    expect(payer).toHaveBeenCalledTimes(2);
    payer.mockRestore();
    expect(on.stripe.charges()).toHaveLength(1);
    expect(await on.balance()).toBe('21');
  });

  it('PAY-04 EVT-31 a declined card is reported once, waits, and has recovered when it clears', async () => {
    await on.deliver(on.captured(await on.checkout('1'), 100));
    await on.billing('PUT', 'auto-recharge', settings);
    await emptyTables(on.app.database.pool, 'outbox');
    on.stripe.declines = 'insufficient_funds';
    await on.recharges.advance();
    await on.recharges.advance();
    expect(await on.types()).toEqual(['auto_recharge.triggered', 'payment.failed', 'auto_recharge.failed']);
    expect((await on.events())[1].data).toMatchObject({
      source: 'auto_recharge',
      reason: 'insufficient_funds',
    });
    expect(await on.balance()).toBe('1');
    on.stripe.declines = null;
    await on.app.database.pool.query('UPDATE billing SET next_attempt_at = NULL');
    await on.recharges.advance();
    expect(await on.balance()).toBe('21');
    expect((await on.events()).at(-1)).toMatchObject({
      type: 'auto_recharge.succeeded',
      data: { recovered: true },
    });
  });

  it('PAY-04 charges once where an answer was lost on its way', async () => {
    await on.deliver(on.captured(await on.checkout('1'), 100));
    await on.billing('PUT', 'auto-recharge', settings);
    on.stripe.isDumb = true;
    await on.recharges.advance();
    expect(await on.balance()).toBe('1');
    on.stripe.isDumb = false;
    await on.recharges.advance();
    expect(await on.balance()).toBe('21');
    const keys = on.stripe.calls.filter(({ path }) => path === '/v1/payment_intents').map(({ key }) => key);
    expect(new Set(keys).size).toBe(1);
  });

  it('PAY-04 asks for the card alone, as nobody is there to be sent to another page', async () => {
    await on.deliver(on.captured(await on.checkout('1'), 100));
    await on.billing('PUT', 'auto-recharge', settings);
    await on.recharges.advance();
    expect(await on.balance()).toBe('21');
    expect(on.stripe.charges()[0].fields).toMatchObject({
      'automatic_payment_methods[enabled]': 'true',
      'automatic_payment_methods[allow_redirects]': 'never',
    });
  });

  it('PAY-04 EVT-31 fails, and waits, where the saved card is gone at the provider', async () => {
    await on.deliver(on.captured(await on.checkout('1'), 100));
    await on.billing('PUT', 'auto-recharge', settings);
    on.stripe.isCardGone = true;
    await on.recharges.advance();
    await on.recharges.advance();
    expect(on.stripe.charges()).toHaveLength(1);
    expect((await on.events()).at(-1)).toMatchObject({
      type: 'auto_recharge.failed',
      data: { reason: 'resource_missing' },
    });
    // Paying by hand saves a card again, and ends the wait.
    on.stripe.isCardGone = false;
    await on.deliver(on.captured(await on.checkout('1'), 100));
    await on.recharges.advance();
    expect(await on.balance()).toBe('22');
  });

  it('PAY-04 a debit that is under way for days is asked for once, and credited by its report', async () => {
    await on.deliver(on.captured(await on.checkout('1'), 100));
    await on.billing('PUT', 'auto-recharge', settings);
    on.stripe.status = 'processing';
    await on.recharges.advance();
    on.stripe.forgetKeys();
    await on.recharges.advance();
    expect(on.stripe.charges()).toHaveLength(1);
    expect(await on.balance()).toBe('1');
    const [{ key }] = on.stripe.charges();
    await on.deliver(on.captured(key, 2000));
    expect(await on.balance()).toBe('21');
    expect(await on.faults()).toEqual([]);
  });

  it('PAY-04 is not charged again without an answer for so long that the provider has forgotten its key', async () => {
    await on.deliver(on.captured(await on.checkout('1'), 100));
    await on.billing('PUT', 'auto-recharge', settings);
    on.stripe.isDumb = true;
    await on.recharges.advance();
    on.stripe.isDumb = false;
    on.stripe.forgetKeys();
    const { pool } = on.app.database;
    await pool.query(
      `UPDATE payment SET created_at = created_at - interval '23 h' WHERE kind = 'auto_recharge'`,
    );
    await on.recharges.advance();
    expect(on.stripe.charges()).toHaveLength(1);
    expect((await on.events()).at(-1)).toMatchObject({
      type: 'auto_recharge.failed',
      data: { reason: 'no_answer' },
    });
    // It was charged after all: the report comes late, and credits it.
    await on.deliver(on.captured(on.stripe.charges()[0].key, 2000));
    expect(await on.balance()).toBe('21');
    expect((await on.events()).at(-1)).toMatchObject({
      type: 'auto_recharge.succeeded',
      data: { recovered: true },
    });
  });

  it('PAY-04 charges nobody for an organization that was deleted', async () => {
    const { directory } = on.app;
    await on.deliver(on.captured(await on.checkout('1'), 100));
    await on.billing('PUT', 'auto-recharge', settings);
    directory.isUnavailable = true;
    await on.recharges.advance();
    directory.isUnavailable = false;
    directory.payers.set('acct_1', { accountId: 'acct_1', orgId: 'org_1', isClosed: true });
    await on.recharges.advance();
    directory.payers.delete('acct_1');
    await on.recharges.advance();
    expect(on.stripe.charges()).toEqual([]);
    expect((await on.billing('GET', 'auto-recharge?org_id=org_1')).body).toMatchObject({ enabled: false });
  });

  it('PAY-04 422 while no card is saved, which the answer says how to change; off needs none', async () => {
    const refused = await on.billing('PUT', 'auto-recharge', settings);
    expect([refused.status, refused.body.error]).toMatchObject([
      422,
      { details: [{ type: 'no_payment_method', loc: ['enabled'] }] },
    ]);
    expect(JSON.stringify(refused.body)).toContain('POST /v1/billing/checkout');
    expect((await on.billing('GET', 'auto-recharge?org_id=org_1')).body).toMatchObject({ enabled: false });
    const off = { ...settings, enabled: false };
    expect((await on.billing('PUT', 'auto-recharge', off)).status).toBe(200);
    expect((await on.billing('PUT', 'auto-recharge', settings)).status).toBe(422);
  });

  it('PAY-04 fails once its card is gone, and takes what it needs only', async () => {
    await on.deliver(on.captured(await on.checkout('1'), 100));
    await on.billing('PUT', 'auto-recharge', settings);
    await on.app.database.pool.query('UPDATE billing SET payment_method = NULL');
    await on.recharges.advance();
    expect((await on.events()).at(-1)).toMatchObject({
      type: 'auto_recharge.failed',
      data: { reason: 'no_payment_method' },
    });
    expect((await on.billing('PUT', 'auto-recharge', { ...ORG, enabled: true })).status).toBe(422);
    expect((await on.billing('PUT', 'auto-recharge', { ...ORG, enabled: false })).status).toBe(200);
    expect((await on.billing('PUT', 'auto-recharge', settings, MEMBER)).status).toBe(403);
  });
});

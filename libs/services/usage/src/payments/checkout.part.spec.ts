import { loadConfig } from '@gateway/platform';
import { Usd } from '@gateway/money';
import { seededRandom } from '@gateway/testing';
import { UsageConfig } from '../usage.config.js';
import { MEMBER, ORG } from './payments.fixture.js';
import { on } from './shared-payments.fixture.js';
import { signature, SIGNING_SECRET, STRIPE_KEY } from './stripe.fixture.js';

describe('POST /v1/billing/checkout', () => {
  it('PAY-01 answers the page where a person pays and the id of the payment', async () => {
    const { status, body } = await on.billing('POST', 'checkout', { ...ORG, amount_usd: '25.5' });
    expect([status, body]).toEqual([
      201,
      { checkout_url: `https://pay.example/${body.payment_id}`, payment_id: expect.stringMatching(/^pay_/) },
    ]);
    expect(on.stripe.calls[0]).toMatchObject({
      path: '/v1/checkout/sessions',
      key: body.payment_id,
      fields: {
        'line_items[0][price_data][unit_amount]': '2550',
        'metadata[payment_id]': body.payment_id,
        success_url: `https://gateway.example/dashboard/?payment=${body.payment_id}`,
      },
    });
    expect([await on.balance(), await on.events()]).toEqual(['0', []]);
  });

  it('PAY-01 refuses amounts that no card can be charged, and members', async () => {
    for (const amount_usd of ['0', '0.5', '1.001', '-3', '1000000', 5])
      expect((await on.billing('POST', 'checkout', { ...ORG, amount_usd })).status).toBe(422);
    expect((await on.billing('POST', 'checkout', { ...ORG, amount_usd: '5' }, MEMBER)).status).toBe(403);
    expect((await on.billing('POST', 'checkout', { org_id: 'org_2', amount_usd: '5' })).status).toBe(403);
  });

  it('PAY-01 opens the page for a new customer where the saved one is gone at Stripe', async () => {
    await on.deliver(on.captured(await on.checkout('1'), 100));
    on.stripe.isCardGone = true;
    on.stripe.calls.splice(0);
    const { status, body } = await on.billing('POST', 'checkout', { ...ORG, amount_usd: '2' });
    expect(status).toBe(201);
    const [first, second] = on.stripe.calls;
    expect([first.fields.customer, second.fields.customer]).toEqual(['cus_1', undefined]);
    expect(second.fields).toMatchObject({
      customer_creation: 'always',
      'metadata[payment_id]': (body as { payment_id: string }).payment_id,
    });
    expect(second.key).not.toBe(first.key);
  });

  it('answers 503 where Stripe has no answer', async () => {
    on.stripe.isDumb = true;
    expect((await on.billing('POST', 'checkout', { ...ORG, amount_usd: '5' })).status).toBe(503);
  });
});

describe('POST /v1/billing/webhooks/stripe', () => {
  it('PAY-02 EVT-11 credits a captured payment once, with source payment, whichever reports of it come', async () => {
    const id = await on.checkout('25.5');
    for (const body of [on.session(id, 2550), on.captured(id, 2550), on.captured(id, 2550)])
      expect((await on.deliver(body)).status).toBe(200);
    expect(await on.balance()).toBe('25.5');
    expect(await on.events()).toEqual([
      expect.objectContaining({
        type: 'balance.credited',
        org_id: 'org_1',
        data: {
          amount_usd: '25.5',
          balance_after: '25.5',
          payment_event_id: expect.stringMatching(/^txn_/),
          source: 'payment',
        },
      }),
      expect.objectContaining({
        type: 'payment.succeeded',
        data: expect.objectContaining({
          payment_id: id,
          provider: 'stripe',
          currency: 'USD',
          amount_usd: '25.5',
        }),
      }),
    ]);
    expect(await on.faults()).toEqual([]);
  });

  it('PAY-02 refuses what is not signed with the secret, is older than five minutes, or was changed', async () => {
    const id = await on.checkout('5');
    const body = on.captured(id, 500);
    for (const header of [
      signature(body, Date.now(), 'whsec_another_secret'),
      signature(body, Date.now() - 301_000),
      signature(`${body} `, Date.now()),
      't=1,v1=',
      '',
    ])
      expect((await on.deliver(body, header)).status).toBe(400);
    expect(await on.balance()).toBe('0');
    expect((await on.deliver(body)).status).toBe(200);
    expect(await on.balance()).toBe('5');
  });

  it('PAY-02 does not start with payments on and no signing secret', () => {
    const env = { USAGE_DATABASE_URL: 'postgresql://127.0.0.1/x', STRIPE_SECRET_KEY: STRIPE_KEY };
    expect(() => loadConfig(UsageConfig, env)).toThrow(/STRIPE_WEBHOOK_SECRET/);
    expect(() => loadConfig(UsageConfig, { ...env, STRIPE_WEBHOOK_SECRET: SIGNING_SECRET })).not.toThrow();
  });

  it('EVT-31 a charge that fails is reported and leaves the balance as it was; so is the next one', async () => {
    const id = await on.checkout('5');
    const failure = (): string =>
      on.stripe.event('payment_intent.payment_failed', {
        id: `pi_${id}`,
        metadata: { payment_id: id },
        last_payment_error: {
          code: 'card_declined',
          decline_code: 'insufficient_funds',
          message: 'secret words',
        },
      });
    const first = failure();
    for (const body of [first, first, failure()]) await on.deliver(body);
    expect(await on.balance()).toBe('0');
    expect(await on.events()).toEqual(
      Array(2).fill(
        expect.objectContaining({
          type: 'payment.failed',
          data: {
            payment_id: id,
            provider: 'stripe',
            currency: 'USD',
            amount_usd: '5',
            reason: 'insufficient_funds',
            source: 'card_top_up',
          },
        }),
      ),
    );
    await on.deliver(on.captured(id, 500));
    expect(await on.balance()).toBe('5');
  });

  it('takes refunds and disputes as new transfers, also where they come before the payment', async () => {
    const id = await on.checkout('10');
    const of = { payment_intent: `pi_${id}` };
    await on.deliver(
      on.stripe.event('refund.created', { ...of, id: 're_1', amount: 400, status: 'succeeded' }),
    );
    expect(await on.balance()).toBe('0');
    await on.deliver(on.captured(id, 1000));
    expect(await on.balance()).toBe('6');
    await on.deliver(
      on.stripe.event('refund.updated', { ...of, id: 're_1', amount: 400, status: 'succeeded' }),
    );
    expect(await on.balance()).toBe('6');
    await on.deliver(on.stripe.event('refund.failed', { ...of, id: 're_1', amount: 400, status: 'failed' }));
    expect(await on.balance()).toBe('10');
    await on.deliver(on.stripe.event('charge.dispute.funds_withdrawn', { ...of, id: 'du_1', amount: 1000 }));
    expect(await on.balance()).toBe('0');
    const kinds = (await on.billing('GET', 'ledger?org_id=org_1')).body.data;
    expect(kinds.map(({ kind, balance_after }: Record<string, string>) => [kind, balance_after])).toEqual([
      ['dispute', '0'],
      ['refund_reversal', '10'],
      ['refund', '6'],
      ['payment', '10'],
    ]);
    expect(await on.faults()).toEqual([]);
  });

  it('PAY-02 replayed, reordered and doubled, 1,000 reports leave the same books to the last decimal', async () => {
    const random = seededRandom(7);
    const reports: string[] = [];
    let expected = 0;
    for (let n = 0; n < 100; n += 1) {
      const id = await on.checkout(`${n + 1}.${String(n % 100).padStart(2, '0')}`);
      const cents = (n + 1) * 100 + (n % 100);
      const of = { payment_intent: `pi_${id}` };
      const [refund, failsLater] = [n % 3 === 0, n % 6 === 0];
      reports.push(on.session(id, cents), on.captured(id, cents));
      if (refund)
        reports.push(
          on.stripe.event('refund.created', { ...of, id: `re_${n}`, amount: 50, status: 'succeeded' }),
        );
      if (failsLater)
        reports.push(
          on.stripe.event('refund.failed', { ...of, id: `re_${n}`, amount: 50, status: 'failed' }),
        );
      if (n % 5 === 0)
        reports.push(
          on.stripe.event('charge.dispute.funds_withdrawn', { ...of, id: `du_${n}`, amount: 100 }),
        );
      if (n % 10 === 0)
        reports.push(
          on.stripe.event('charge.dispute.funds_reinstated', { ...of, id: `du_${n}`, amount: 100 }),
        );
      expected += cents - (refund && !failsLater ? 50 : 0) - (n % 10 === 5 ? 100 : 0);
    }
    const sent = Array.from({ length: 4 }, () => reports)
      .flat()
      .slice(0, 1_000 + reports.length);
    const order = sent.map((body) => ({ body, at: random.fraction() })).toSorted((a, b) => a.at - b.at);
    for (let from = 0; from < order.length; from += 8)
      await Promise.all(order.slice(from, from + 8).map(({ body }) => on.deliver(body)));
    // Whatever was left waiting by a clash comes again, as Stripe would send it.
    for (const body of reports) expect((await on.deliver(body)).status).toBe(200);
    expect(await on.balance()).toBe(Usd.fromNano(BigInt(expected) * 10_000_000n).toString());
    expect((await on.types()).filter((type) => type === 'payment.succeeded')).toHaveLength(100);
    expect(await on.faults()).toEqual([]);
  });
});

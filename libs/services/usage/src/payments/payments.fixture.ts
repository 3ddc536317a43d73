import { TOPIC, type AccountEvent, type Topic } from '@gateway/contracts';
import { OutboxRelay } from '@gateway/event-log';
import { Usd } from '@gateway/money';
import { sessionPrincipal, testDatabase } from '@gateway/testing';
import { ScheduledJobs } from '../background/scheduled-jobs.js';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { Recharges } from './recharges.js';
import { signature, SIGNING_SECRET, STRIPE_KEY, StripeDouble } from './stripe.fixture.js';
import { emptyTables } from '../postgres/emptied-tables.fixture.js';

export const OWNER = 'eyJowner.eyJowner.owner';
export const MEMBER = 'eyJmember.eyJmember.member';
export const ROOT = 'eyJroot.eyJroot.root';
export const ORG = { org_id: 'org_1' };

type Answer = Awaited<ReturnType<UsageApp['call']>>;

/** The service with payments on, beside a stand-in for Stripe; only specs start it. */
export class PaymentsApp {
  private constructor(
    readonly app: UsageApp,
    readonly stripe: StripeDouble,
    readonly recharges: Recharges,
    private readonly now: () => number,
    private readonly drop: () => Promise<void>,
  ) {}

  static async start(now: () => number): Promise<PaymentsApp> {
    const place = await testDatabase(MIGRATED);
    const stripe = await new StripeDouble().start();
    const app = await startUsageApp(place.url, {
      settings: {
        STRIPE_SECRET_KEY: STRIPE_KEY,
        STRIPE_WEBHOOK_SECRET: SIGNING_SECRET,
        STRIPE_BASE_URL: stripe.url,
        BILLING_RETURN_URL: 'https://gateway.example/dashboard/',
      },
    });
    // Its recharges come when a test says so, and events stay where the transaction has put them.
    await app.app.get(ScheduledJobs, { strict: false }).stop();
    await app.app.get(OutboxRelay, { strict: false }).stop();
    const membership = { orgId: 'org_1', accountId: 'acct_1', teams: [] };
    const person = (userId: string, role: 'owner' | 'member') =>
      sessionPrincipal({ userId, memberships: [{ ...membership, role }] });
    app.principals.add(OWNER, person('usr_9', 'owner'));
    app.principals.add(MEMBER, person('usr_2', 'member'));
    app.principals.add(
      ROOT,
      sessionPrincipal({ userId: 'usr_root', accountId: 'acct_root', isSuperAdmin: true }),
    );
    return new PaymentsApp(app, stripe, app.app.get(Recharges, { strict: false }), now, () => place.drop());
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.stripe.close();
    await this.drop();
  }

  async empty(): Promise<void> {
    this.stripe.declines = null;
    this.stripe.isDumb = false;
    this.stripe.status = 'succeeded';
    this.stripe.isCardGone = false;
    this.stripe.calls.splice(0);
    const { pool } = this.app.database;
    await emptyTables(pool, 'transfer, payment, payment_event, billing, coupon, coupon_redemption, outbox');
    await pool.query(`UPDATE account SET posted = 0`);
  }

  billing(method: 'GET' | 'POST' | 'PUT', path: string, body?: object, as = OWNER): Promise<Answer> {
    return this.app.call(method, `/v1/billing/${path}`, as, body);
  }

  async checkout(amount_usd: string): Promise<string> {
    const answer = await this.billing('POST', 'checkout', { ...ORG, amount_usd });
    return String((answer.body as { payment_id: unknown }).payment_id);
  }

  deliver(body: string, header = signature(body, this.now())): Promise<Answer> {
    const headers = { 'content-type': 'application/json', 'stripe-signature': header };
    return this.app.call('POST', '/v1/billing/webhooks/stripe', null, body, headers);
  }

  captured(payment_id: string, cents: number): string {
    return this.stripe.event('payment_intent.succeeded', {
      id: `pi_${payment_id}`,
      amount_received: cents,
      customer: 'cus_1',
      payment_method: 'pm_1',
      metadata: { payment_id },
    });
  }

  session(payment_id: string, cents: number): string {
    return this.stripe.event('checkout.session.completed', {
      id: `cs_${payment_id}`,
      payment_intent: `pi_${payment_id}`,
      payment_status: 'paid',
      amount_total: cents,
      metadata: { payment_id },
    });
  }

  async balance(): Promise<string> {
    const { rows } = await this.app.database.pool.query<{ posted: string }>(
      `SELECT posted::text AS posted FROM account WHERE id = 'acct_1'`,
    );
    return Usd.parse(rows.at(0)?.posted ?? '0').toString();
  }

  /** Returns the events in the order of their transactions, without movements. */
  async events(): Promise<Pick<AccountEvent, 'type' | 'data'>[]> {
    const events = await this.waiting<AccountEvent>(TOPIC.account);
    return events.filter(({ type }) => type !== 'balance.movement');
  }

  /** Returns the waiting events of one topic in the outbox. */
  async waiting<Data>(topic: Topic): Promise<Data[]> {
    const { rows } = await this.app.database.pool.query<{ value: string }>(
      'SELECT value FROM outbox WHERE topic = $1 ORDER BY created_at, id',
      [topic],
    );
    return rows.map(({ value }) => (JSON.parse(value) as { data: Data }).data);
  }

  async types(): Promise<string[]> {
    return (await this.events()).map(({ type }) => type);
  }

  /** Accounts that are not the sum of their transfers, and `all` where the books do not balance. */
  async faults(): Promise<object[]> {
    const { rows } = await this.app.database.pool.query<object>(
      `SELECT a.id FROM account a LEFT JOIN LATERAL (SELECT
         coalesce((SELECT sum(amount) FROM transfer WHERE credit = a.id), 0)
         - coalesce((SELECT sum(amount) FROM transfer WHERE debit = a.id), 0) AS moved) AS t ON true
       WHERE a.posted <> t.moved UNION ALL SELECT 'all' FROM account HAVING sum(posted) <> 0`,
    );
    return rows;
  }
}

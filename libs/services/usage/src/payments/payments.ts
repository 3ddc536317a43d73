import type { OnApplicationShutdown } from '@nestjs/common';
import {
  ApiError,
  newId,
  type CheckoutRecord,
  type Clock,
  type Directory,
  type Random,
} from '@gateway/contracts';
import type { AuditRow } from '@gateway/database';
import { accountEventRow } from '@gateway/event-log';
import { Usd } from '@gateway/money';
import type { Logger } from 'pino';
import type { Mirrors } from '../mirror/mirrors.js';
import { insertOutbox } from '../postgres/outbox-rows.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { centsText, paymentFact } from './payment-fact.js';
import type { PaymentsStore } from './payments.store.js';
import { ChargeRefused, CustomerGone, type StripeClient } from './stripe-client.js';

interface Deps {
  database: UsageDatabase;
  store: PaymentsStore;
  /** null where payments are off. */
  stripe: StripeClient | null;
  returnUrl: string;
  mirrors: Pick<Mirrors, 'refresh'>;
  directory: () => Pick<Directory, 'payer'>;
  nudge: () => void;
  clock: Clock;
  random: Random;
  logger: Logger;
}

interface Due {
  account_id: string;
  org_id: string | null;
  amount: string;
}

interface Scheduled {
  id: string;
  amount: string;
  created_at: Date;
  customer: string | null;
  payment_method: string | null;
}

const ROUND_MAX = 50;
/** Stripe forgets an Idempotency-Key after a day: what is asked for again then is another charge. */
const ASKED_MS = 23 * 3_600_000;

/** Money that comes in: checkouts, what Stripe reports, and recharges that accounts have asked for. */
export class Payments implements OnApplicationShutdown {
  constructor(private readonly deps: Deps) {}

  async onApplicationShutdown(): Promise<void> {
    await this.deps.stripe?.close();
  }

  /** Throws ApiError `feature_not_enabled` where payments are off. */
  async checkout(
    payer: { accountId: string; orgId: string | null; userId: string },
    amount: Usd,
    audit: AuditRow,
  ): Promise<CheckoutRecord> {
    const { returnUrl, store } = this.deps;
    const stripe = this.provider();
    const id = await store.open({ ...payer, amount }, audit);
    const openFor = (customer: string | null, key: string): Promise<string> =>
      stripe.checkout(key, {
        mode: 'payment',
        client_reference_id: id,
        'metadata[payment_id]': id,
        'payment_intent_data[metadata][payment_id]': id,
        // A recharge charges the card again when nobody is there.
        'payment_intent_data[setup_future_usage]': 'off_session',
        ...(customer === null ? { customer_creation: 'always' } : { customer }),
        'line_items[0][quantity]': '1',
        'line_items[0][price_data][currency]': 'usd',
        'line_items[0][price_data][unit_amount]': centsText(amount),
        'line_items[0][price_data][product_data][name]': 'Credit',
        success_url: `${returnUrl}?payment=${id}`,
        cancel_url: returnUrl,
      });
    const url = await openFor(await this.customerOf(payer.accountId), id).catch((failure: unknown) => {
      if (!(failure instanceof CustomerGone)) throw failure;
      // Whoever pays is a customer anew, whose card is kept in place of the one that is gone.
      return openFor(null, `${id}-anew`);
    });
    return { checkout_url: url, payment_id: id };
  }

  /** A report of Stripe's, verified. Throws TypeError for one that cannot be read. */
  async report(value: unknown): Promise<void> {
    const fact = paymentFact(value);
    if (fact === null) return;
    const { store } = this.deps;
    const accounts = new Set([await store.report(fact, value)]);
    if (fact.intent !== null)
      for (const waiting of await store.parked(fact.intent)) {
        const earlier = paymentFact(waiting);
        if (earlier !== null) accounts.add(await store.reapply(earlier));
      }
    await this.moved(accounts);
  }

  /** Schedules what is due, and charges what is scheduled, also what a process has left so. */
  async recharge(): Promise<void> {
    if (this.deps.stripe === null) return;
    const { rows } = await this.deps.database.pool.query<Due>(DUE, [
      new Date(this.deps.clock.now()),
      ROUND_MAX,
      null,
    ]);
    for (const due of rows) if (await this.isOpen(due)) await this.schedule(due);
    const scheduled = await this.deps.database.pool.query<Scheduled>(
      `SELECT p.id, p.amount::text, p.created_at, b.customer, b.payment_method FROM payment p LEFT JOIN billing b USING (account_id)
       WHERE p.kind = 'auto_recharge' AND p.state = 'pending' AND p.intent IS NULL ORDER BY p.created_at LIMIT $1`,
      [ROUND_MAX],
    );
    for (const payment of scheduled.rows) await this.charge(payment);
  }

  /**
   * An organization that was deleted has nobody left who could switch its recharges off. Where nobody can say, the next round
   * asks again: what is scheduled already must not wait for it.
   */
  private async isOpen({ account_id, org_id }: Due): Promise<boolean> {
    const { clock, database, directory, logger } = this.deps;
    if (org_id === null) return true;
    try {
      const payer = await directory().payer(account_id);
      if (payer?.isClosed !== true) return true;
      await database.pool.query('UPDATE billing SET enabled = false, updated_at = $2 WHERE account_id = $1', [
        account_id,
        new Date(clock.now()),
      ]);
    } catch (failure) {
      logger.warn({ err: failure, account_id }, 'a recharge waits: nobody says whether its account is open');
    }
    return false;
  }

  private async schedule({ account_id, org_id }: Due): Promise<void> {
    const { clock, database, random, store, nudge } = this.deps;
    const id = newId('pay', clock, random);
    await database.transaction(async (client) => {
      // Two processes may find the same account, and one may have charged and credited it when the other comes to it.
      await client.query('SELECT 1 FROM billing WHERE account_id = $1 FOR UPDATE', [account_id]);
      const { rows } = await client.query<Due>(DUE, [new Date(clock.now()), 1, account_id]);
      if (rows.length === 0) return;
      const amount = Usd.parse(rows[0].amount);
      const row = { id, kind: 'auto_recharge', accountId: account_id, orgId: org_id, userId: null } as const;
      await store.insert(client, { ...row, amount });
      const data = { amount_usd: amount.toString(), scheduled_payment_id: id };
      const event = { account_id, org_id, type: 'auto_recharge.triggered', data } as const;
      await insertOutbox(client, [accountEventRow(event, '/usage', { clock, random })]);
    });
    nudge();
  }

  private async charge(payment: Scheduled): Promise<void> {
    const { clock, store, logger } = this.deps;
    const { id, amount, created_at: since, customer, payment_method: card } = payment;
    const fail = async (reason: string, intent: string | null = null): Promise<void> =>
      this.moved([await store.settle(id, { intent, isCaptured: false, reason })]);
    if (customer === null || card === null) return fail('no_payment_method');
    // If the money moved after all, the provider's report credits it, whatever is noted here.
    if (clock.now() - since.getTime() >= ASKED_MS) return fail('no_answer');
    try {
      const { intent, status } = await this.provider().charge(id, {
        amount: centsText(Usd.parse(amount)),
        currency: 'usd',
        customer,
        payment_method: card,
        off_session: 'true',
        confirm: 'true',
        // Nobody is there to be sent to another page, without which Stripe takes no other kind of payment.
        'automatic_payment_methods[enabled]': 'true',
        'automatic_payment_methods[allow_redirects]': 'never',
        'metadata[payment_id]': id,
      });
      if (status === 'succeeded') await this.moved([await store.settle(id, { intent, isCaptured: true })]);
      // A bank takes days: from here on its report is waited for.
      else if (status === 'processing') await store.await(id, intent);
      else await fail('authentication_required', intent);
    } catch (failure) {
      if (!(failure instanceof ChargeRefused)) {
        // Nobody knows whether the money moved: the same key is tried again, and the provider's report may come first.
        logger.warn({ err: failure, payment_id: id }, 'a recharge has no answer and will be asked for again');
        return;
      }
      await fail(failure.code, failure.intent);
    }
  }

  private provider(): StripeClient {
    const { stripe } = this.deps;
    if (stripe === null)
      throw new ApiError('feature_not_enabled', { message: 'Payments are not enabled on this deployment.' });
    return stripe;
  }

  private async customerOf(accountId: string): Promise<string | null> {
    const where = { account_id: accountId };
    const row = await this.deps.database.prisma.billing.findUnique({ where, select: { customer: true } });
    return row?.customer ?? null;
  }

  /** The money stands whether or not the limit store has it now: the debt of the transfer reports it then. */
  private async moved(accounts: Iterable<string | null>): Promise<void> {
    const known = [...accounts].filter((account) => account !== null);
    if (known.length === 0) return;
    this.deps.nudge();
    await this.deps.mirrors.refresh(known.map((accountId) => ({ accountId, scopes: [] })));
  }
}

/**
 * Accounts, or $3 alone where it is not null, that are below their threshold, have no recharge under way, and whose recharges of
 * the month stay within their limit with this one.
 */
const DUE = `
SELECT b.account_id, b.org_id, b.amount::text FROM billing b LEFT JOIN account a ON a.id = b.account_id
WHERE ($3::text IS NULL OR b.account_id = $3)
  AND b.enabled AND coalesce(a.posted, 0) < b.threshold AND (b.next_attempt_at IS NULL OR b.next_attempt_at <= $1)
  AND NOT EXISTS (SELECT 1 FROM payment p WHERE p.account_id = b.account_id AND p.kind = 'auto_recharge' AND p.state = 'pending')
  AND (b.monthly_limit IS NULL OR b.amount + coalesce((SELECT sum(p.amount) FROM payment p
    WHERE p.account_id = b.account_id AND p.kind = 'auto_recharge' AND p.state IN ('pending', 'succeeded')
      AND p.created_at >= date_trunc('month', $1::timestamptz, 'UTC')), 0) <= b.monthly_limit)
ORDER BY b.account_id LIMIT $2`;

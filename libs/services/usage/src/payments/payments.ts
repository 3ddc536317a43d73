import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ApiError, type CheckoutRecord } from '@gateway/contracts';
import type { AuditRow } from '@gateway/database';
import type { Usd } from '@gateway/money';
import { UsageDatabase } from '../postgres/usage-database.js';
import { UsageConfig } from '../usage.config.js';
import { MovedBalances } from './moved-balances.js';
import { centsText, paymentFact } from './payment-fact.js';
import { PaymentsStore } from './payments.store.js';
import { CustomerGone, StripeClient } from './stripe-client.js';

/** Money that comes in: checkouts, and what Stripe reports of them and of recharges. */
@Injectable()
export class Payments implements OnApplicationShutdown {
  constructor(
    private readonly database: UsageDatabase,
    private readonly store: PaymentsStore,
    /** null where payments are off. */
    @Inject(StripeClient) private readonly stripe: StripeClient | null,
    private readonly balances: MovedBalances,
    private readonly config: UsageConfig,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.stripe?.close();
  }

  /** Throws ApiError `feature_not_enabled` where payments are off. */
  async checkout(
    payer: { accountId: string; orgId: string | null; userId: string },
    amount: Usd,
    audit: AuditRow,
  ): Promise<CheckoutRecord> {
    const { store } = this;
    const { BILLING_RETURN_URL: returnUrl } = this.config;
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
    const { store } = this;
    const accounts = new Set([await store.report(fact, value)]);
    if (fact.intent !== null)
      for (const waiting of await store.parked(fact.intent)) {
        const earlier = paymentFact(waiting);
        if (earlier !== null) accounts.add(await store.reapply(earlier));
      }
    await this.balances.moved(accounts);
  }

  private provider(): StripeClient {
    const { stripe } = this;
    if (stripe === null)
      throw new ApiError('feature_not_enabled', { message: 'Payments are not enabled on this deployment.' });
    return stripe;
  }

  private async customerOf(accountId: string): Promise<string | null> {
    const where = { account_id: accountId };
    const row = await this.database.prisma.billing.findUnique({ where, select: { customer: true } });
    return row?.customer ?? null;
  }
}

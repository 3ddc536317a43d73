import { Inject, Injectable } from '@nestjs/common';
import { Directory, type Clock } from '@gateway/contracts';
import { OutboxRelay } from '@gateway/event-log';
import { Usd } from '@gateway/money';
import { CLOCK, LOGGER } from '@gateway/platform';
import type { Logger } from 'pino';
import { MovedBalances } from './moved-balances.js';
import { centsText } from './payment-fact.js';
import { PaymentsStore } from './payments.store.js';
import { RechargesStore, type Due, type Scheduled } from './recharges.store.js';
import { ChargeRefused, StripeClient } from './stripe-client.js';

/** Stripe forgets an Idempotency-Key after a day: what is asked for again then is another charge. */
const ASKED_MS = 23 * 3_600_000;

/** Recharges that accounts have asked for. */
@Injectable()
export class Recharges {
  constructor(
    private readonly recharges: RechargesStore,
    private readonly payments: PaymentsStore,
    /** null where payments are off. */
    @Inject(StripeClient) private readonly stripe: StripeClient | null,
    private readonly balances: MovedBalances,
    private readonly directory: Directory,
    private readonly outbox: OutboxRelay,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Schedules what is due, and charges what is scheduled, also what a process has left so. */
  async advance(): Promise<void> {
    if (this.stripe === null) return;
    for (const due of await this.recharges.due())
      if (await this.isOpen(due)) {
        await this.recharges.schedule(due);
        this.outbox.wake();
      }
    for (const payment of await this.recharges.scheduled()) await this.charge(payment, this.stripe);
  }

  /**
   * An organization that was deleted has nobody left who could switch its recharges off. Where nobody can say, the next round
   * asks again: what is scheduled already must not wait for it.
   */
  private async isOpen({ account_id, org_id }: Due): Promise<boolean> {
    const { directory, logger, recharges } = this;
    if (org_id === null) return true;
    try {
      const payer = await directory.payer(account_id);
      if (payer?.isClosed !== true) return true;
      await recharges.disable(account_id);
    } catch (failure) {
      logger.warn({ err: failure, account_id }, 'a recharge waits: nobody says whether its account is open');
    }
    return false;
  }

  private async charge(payment: Scheduled, stripe: StripeClient): Promise<void> {
    const { balances, clock, payments, logger } = this;
    const { id, amount, created_at: since, customer, payment_method: card } = payment;
    const fail = async (reason: string, intent: string | null = null): Promise<void> =>
      balances.moved([await payments.settle(id, { intent, isCaptured: false, reason })]);
    if (customer === null || card === null) return fail('no_payment_method');
    // If the money moved after all, the provider's report credits it, whatever is noted here.
    if (clock.now() - since.getTime() >= ASKED_MS) return fail('no_answer');
    try {
      const { intent, status } = await stripe.charge(id, {
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
      if (status === 'succeeded')
        await balances.moved([await payments.settle(id, { intent, isCaptured: true })]);
      // A bank takes days: from here on its report is waited for.
      else if (status === 'processing') await payments.await(id, intent);
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
}

import { Inject, Injectable } from '@nestjs/common';
import { OutboxRelay } from '@gateway/event-log';
import { ApiError, Funds, type AppliedRange, type Random } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import { type AuditRow } from '@gateway/database';
import { RANDOM, unavailable } from '@gateway/platform';
import type { Scope } from '../posting/scopes.js';
import { Projections } from '../projection/projections.js';
import { LivingProducers } from './living-producers.js';
import { UsageMetrics } from '../usage-metrics.js';
import { LedgerStore, type Credit } from './ledger.store.js';
import type { Moved } from './move-money.js';

/** The ledger in process. Throws ApiError `service_unavailable` where PostgreSQL or the limit store is away. */
@Injectable()
export class LedgerFunds extends Funds {
  constructor(
    private readonly store: LedgerStore,
    private readonly projections: Projections,
    private readonly producers: LivingProducers,
    private readonly metrics: UsageMetrics,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(OutboxRelay) private readonly outbox: Pick<OutboxRelay, 'wake'>,
  ) {
    super();
  }

  override async seedSpendLimit(accountId: string, gen: string | null, scopes: Scope[]): Promise<void> {
    await this.asked(() => this.projections.seed(accountId, gen, scopes));
    this.metrics.spendLimitSeeded();
  }

  override async spent(scopes: Scope[], accountId: string | null): Promise<string[]> {
    const amounts = await this.asked(() => this.store.spent(scopes, accountId));
    return amounts.map(String);
  }

  override async balance(accountId: string): Promise<string> {
    const found = await this.asked(() => this.store.balance(accountId));
    return (found?.posted ?? Usd.zero).toString();
  }

  override async credit(credit: Credit): Promise<void> {
    await this.creditOnce(credit);
  }

  /** Throws ApiError `validation_error` for an amount that is not above 0. */
  async creditOnce(credit: Credit, audit: AuditRow | null = null): Promise<Moved> {
    if (!Usd.isMoney(credit.amountUsd) || !Usd.parse(credit.amountUsd).isPositive()) {
      const msg = 'A credit has to be above 0.';
      throw new ApiError('validation_error', {
        message: msg,
        details: [{ type: 'minimum', loc: ['amount_usd'], msg }],
      });
    }
    const credited = await this.asked(() => this.store.credit(credit, audit));
    this.outbox.wake();
    // At once, so that the next request finds it; where that fails, the debt that the transfer left does it a second later.
    await this.projections.refresh([{ accountId: credit.accountId, scopes: [] }]);
    return credited;
  }

  override watermark(producer: string, epoch: string): Promise<number> {
    return this.asked(() => this.store.watermark(producer, epoch));
  }

  override applied(producer: string, epoch: string, above: number): Promise<AppliedRange[]> {
    return this.asked(() => this.store.applied(producer, epoch, above));
  }

  override heard(producer: string, epoch: string, isEnded: boolean): Promise<void> {
    return this.asked(() => this.producers.heard(producer, epoch, isEnded));
  }

  override async reportDue(accountId: string): Promise<void> {
    await this.asked(() => this.projections.reportDueOf(accountId));
  }

  private async asked<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await question();
    } catch (cause) {
      throw cause instanceof ApiError ? cause : unavailable(this.random, cause);
    }
  }
}

import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Funds, type Clock } from '@gateway/contracts';
import { CLOCK, LOGGER, repeat, type Repeated } from '@gateway/platform';
import type { Logger } from 'pino';
import { money } from '../postgres/columns.js';
import { KeysDatabase } from '../postgres/keys-database.js';

const RETRY_EVERY_MS = 500;
const BATCH = 20;

/**
 * Brings opening credits to the ledger until it has acknowledged them. It never delays a start; the ledger books a
 * source once, so a repeat after a lost answer changes nothing.
 */
@Injectable()
export class OpeningCredit implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private loop: Repeated | null = null;

  constructor(
    private readonly database: KeysDatabase,
    private readonly funds: Funds,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.loop = repeat(
      this.clock,
      RETRY_EVERY_MS,
      () => this.deliver(),
      (failure) => this.logger.warn({ err: failure }, 'an opening credit waits for the ledger'),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop?.stop();
  }

  /** Throws what the ledger throws; what it has acknowledged by then stays so. */
  async deliver(): Promise<void> {
    const waiting = await this.database.prisma.account.findMany({
      where: { opening_credit_state: 'pending' },
      select: { id: true, org_id: true, opening_credit_usd: true },
      take: BATCH,
    });
    for (const { id, org_id: orgId, opening_credit_usd: amount } of waiting) {
      const amountUsd = money(amount?.toFixed() ?? '0') ?? '0';
      await this.funds.credit({
        accountId: id,
        orgId,
        amountUsd,
        kind: 'admin_grant',
        source: `opening/${id}`,
      });
      await this.database.prisma.account.update({
        where: { id },
        data: { opening_credit_state: 'credited' },
      });
    }
  }

  /** Soon, because there is something to deliver. */
  wake(): void {
    this.loop?.wake();
  }
}

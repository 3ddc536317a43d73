import { Injectable } from '@nestjs/common';
import { OutboxRelay } from '@gateway/event-log';
import { Projections } from '../projection/projections.js';

/** Tells of balances that a payment has moved: the events leave, and the limit store gets the new totals. */
@Injectable()
export class MovedBalances {
  constructor(
    private readonly outbox: OutboxRelay,
    private readonly projections: Projections,
  ) {}

  /** The money stands whether or not the limit store has it now: the debt of the transfer reports it then. */
  async moved(accounts: Iterable<string | null>): Promise<void> {
    const known = [...accounts].filter((account) => account !== null);
    if (known.length === 0) return;
    this.outbox.wake();
    await this.projections.refresh(known.map((accountId) => ({ accountId, scopes: [] })));
  }
}

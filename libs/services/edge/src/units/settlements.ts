import { Inject, Injectable } from '@nestjs/common';
import { LimitStore, type Clock } from '@gateway/contracts';
import type { Journal, SyncedOutcome } from '@gateway/journal';
import { LEASE_MS, SettlementQueue } from '@gateway/limits';
import { CLOCK } from '@gateway/platform';
import { Settling } from '../admission/settling.js';
import { JournalReports } from './journal-reports.js';

/** A call of the store costs nearly what an admission does, whether it carries one unit or ten. */
const LINGER_MS = 5;

/** Settlements of this process: their queue to the limit store, and the units whose settlement it does not have yet. */
@Injectable()
export class Settlements {
  readonly queue: SettlementQueue;
  readonly settling: Settling;
  private journal: Pick<Journal, 'synced'> | null = null;

  constructor(limits: LimitStore, reports: JournalReports, @Inject(CLOCK) clock: Clock) {
    this.queue = new SettlementQueue({
      store: limits,
      clock,
      lingerMs: LINGER_MS,
      onLeft: (put) => this.settling.left(put),
      onFailure: (cause) => reports.settleFailed(cause),
    });
    this.settling = new Settling({ journal: () => this.opened(), settlementQueue: this.queue, clock });
  }

  /** Sets the journal whose outcomes are settled, once it is open. */
  follow(journal: Pick<Journal, 'synced'>): void {
    this.journal = journal;
  }

  /** Settles synced outcomes only: until then the unit stays reserved. */
  settle(outcomes: readonly SyncedOutcome[]): void {
    for (const { settle } of outcomes) {
      if (settle === null) continue;
      const { providers, ...own } = settle;
      this.queue.add({ ...own, nano: BigInt(own.nano), action: 'settle', leaseMs: LEASE_MS });
      for (const owed of providers ?? [])
        this.queue.add({ ...owed, nano: BigInt(owed.nano), action: 'settle', leaseMs: LEASE_MS });
    }
  }

  private opened(): Pick<Journal, 'synced'> {
    if (this.journal === null) throw new TypeError('the journal is not open yet');
    return this.journal;
  }
}

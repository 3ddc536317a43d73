import type { Clock, PutUnit } from '@gateway/contracts';
import type { Journal } from '@gateway/journal';
import type { SettlementQueue } from '@gateway/limits';

export interface SettlingDeps {
  journal: () => Pick<Journal, 'synced'>;
  settlementQueue: Pick<SettlementQueue, 'deliveredOf'>;
  clock: Clock;
}

/** Longest wait for a disk or a store that does not answer: the answer or the rejection then goes without it. */
const PATIENCE_MS = 5_000;

/** The cost of an ended unit. */
export interface Ended {
  accountId: string;
  unit: string;
  nano: number;
}

interface Account {
  units: Map<string, number>;
  nano: number;
}

/**
 * Units of this process that have ended and that the limit store does not know as settled yet, by account: a few
 * milliseconds each. A rejection for money and an admission near a limit do not rest on what they still hold.
 */
export class Settling {
  private readonly accounts = new Map<string, Account>();

  constructor(private readonly deps: SettlingDeps) {}

  /** Adds a unit after its OUTCOME. */
  add({ accountId, unit: unitId, nano }: Ended): void {
    const account = this.accounts.get(accountId) ?? { units: new Map<string, number>(), nano: 0 };
    this.accounts.set(accountId, account);
    account.units.set(unitId, nano);
    account.nano += nano;
  }

  /** The store has it, or gets it from the ledger. */
  left({ accountId, unit: unitId, action }: PutUnit): void {
    const account = this.accounts.get(accountId);
    const nano = account?.units.get(unitId);
    if (action !== 'settle' || account === undefined || nano === undefined) return;
    account.units.delete(unitId);
    account.nano -= nano;
    if (account.units.size === 0) this.accounts.delete(accountId);
  }

  /** Nano-USD of the account that the store has not heard of. */
  spent(accountId: string): number {
    return this.accounts.get(accountId)?.nano ?? 0;
  }

  /** True if units of the account wait. */
  has(accountId: string): boolean {
    return this.accounts.has(accountId);
  }

  /** Resolves when the store knows the units of the account that have ended, or after five seconds. Never rejects. */
  async reported(accountId: string): Promise<void> {
    const { clock } = this.deps;
    const over = new AbortController();
    const late = clock.sleep(PATIENCE_MS, over.signal).catch(() => undefined);
    const report = this.report(accountId).catch(() => undefined);
    await Promise.race([report, late]);
    over.abort();
  }

  private async report(accountId: string): Promise<void> {
    const { journal, settlementQueue } = this.deps;
    // Only what is synced may be settled.
    if (this.has(accountId)) await journal().synced();
    await settlementQueue.deliveredOf(accountId);
  }
}

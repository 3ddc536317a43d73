import { Injectable } from '@nestjs/common';
import { Funds, LimitStore, type BudgetGrant, type SpendScope } from '@gateway/contracts';
import { budgetWindow } from '@gateway/limits';
import { Usd } from '@gateway/money';

type Counted = Pick<
  BudgetGrant,
  'scope' | 'scopeId' | 'period' | 'timeZone' | 'rollingDays' | 'countedFromMs'
>;

/** Amounts of the period of a budget that runs. */
export interface PeriodUse {
  startMs: number;
  /** null of a rolling one. */
  endMs: number | null;
  /** Decimal text of USD; null where the ledger cannot be asked. */
  spentUsd: string | null;
  /** Reserved and unposted; null where the limit store cannot be asked. */
  heldUsd: string | null;
}

/** Amounts that are used of budgets: posted in the ledger, and in flight in the limit store. */
@Injectable()
export class BudgetUse {
  constructor(
    private readonly funds: Funds,
    private readonly limits: LimitStore,
  ) {}

  /** Asks each of the two once, for budgets of one account. Never rejects. */
  async of(accountId: string, budgets: readonly Counted[], nowMs: number): Promise<PeriodUse[]> {
    const windows = budgets.map((budget) => budgetWindow(budget, nowMs));
    const scopes = budgets.map(({ scope: kind, scopeId }, index): { kind: SpendScope; id: string } => ({
      kind,
      id: `${scopeId}/${windows[index].counter}`,
    }));
    if (scopes.length === 0) return [];
    const [spent, state] = await Promise.all([
      this.funds.spent(scopes, accountId).catch(() => null),
      this.limits.read(accountId, scopes).catch(() => null),
    ]);
    return windows.map(({ startMs, endMs }, index) => ({
      startMs,
      endMs,
      spentUsd: spent === null ? null : Usd.parse(spent[index]).toString(),
      heldUsd: state === null ? null : heldOf(state.scopes[index]),
    }));
  }
}

function heldOf({ reservedNano, unpostedNano }: { reservedNano: bigint; unpostedNano: bigint }): string {
  return Usd.fromNano(reservedNano + unpostedNano).toString();
}

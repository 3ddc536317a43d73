import { Injectable } from '@nestjs/common';
import { Funds, LimitStore, type BudgetGrant, type ScopeKind } from '@gateway/contracts';
import { periodAt, periodCounter } from '@gateway/limits';
import { Usd } from '@gateway/money';

type Counted = Pick<BudgetGrant, 'scope' | 'scopeId' | 'period' | 'timeZone' | 'countedFromMs'>;

/** Amounts of the period of a budget that runs. */
export interface PeriodUse {
  startMs: number;
  endMs: number;
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
    const ranges = budgets.map(({ period, timeZone }) => periodAt(period, timeZone, nowMs));
    const scopes = budgets.map(
      ({ scope: kind, scopeId, countedFromMs }, index): { kind: ScopeKind; id: string } => ({
        kind,
        id: `${scopeId}/${periodCounter(ranges[index], countedFromMs)}`,
      }),
    );
    if (scopes.length === 0) return [];
    const [spent, state] = await Promise.all([
      this.funds.spent(scopes, accountId).catch(() => null),
      this.limits.read(accountId, scopes).catch(() => null),
    ]);
    return ranges.map((range, index) => ({
      ...range,
      spentUsd: spent === null ? null : Usd.parse(spent[index]).toString(),
      heldUsd: state === null ? null : heldOf(state.scopes[index]),
    }));
  }
}

function heldOf({ reservedNano, unpostedNano }: { reservedNano: bigint; unpostedNano: bigint }): string {
  return Usd.fromNano(reservedNano + unpostedNano).toString();
}

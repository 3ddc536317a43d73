import type { BudgetGrant, PeriodBudgetRecord } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import type { Prisma } from '../generated/prisma/client.js';
import type { PeriodUse } from './budget-use.js';

export type BudgetRow = Prisma.BudgetGetPayload<object>;

/** Returns the rest of a budget beside what is in flight; null where it is not known. */
export function leftOf({ effective_amount_usd, spent_usd, held_usd }: PeriodBudgetRecord): Usd | null {
  if (spent_usd === null || held_usd === null) return null;
  return Usd.parse(effective_amount_usd).minus(Usd.parse(spent_usd)).minus(Usd.parse(held_usd));
}

/** Returns the id of the hard budget with the least left; null where there is none, or nothing is known. */
export function tightestBudget(budgets: readonly PeriodBudgetRecord[]): string | null {
  let tightest: { id: string; left: Usd } | null = null;
  for (const budget of budgets) {
    const left = budget.is_hard ? leftOf(budget) : null;
    if (left === null || (tightest !== null && left.compare(tightest.left) >= 0)) continue;
    tightest = { id: budget.id, left };
  }
  return tightest?.id ?? null;
}

/** A row as admission gets it. */
export function grantOf(row: BudgetRow): BudgetGrant {
  return {
    id: row.id,
    name: row.name,
    scope: row.scope as BudgetGrant['scope'],
    scopeId: row.scope_id,
    amountUsd: row.amount_usd.toFixed(),
    raise:
      row.raise_by_usd === null || row.raise_until === null
        ? null
        : { byUsd: row.raise_by_usd.toFixed(), untilMs: row.raise_until.getTime() },
    period: row.period as BudgetGrant['period'],
    timeZone: row.period === 'rolling' ? null : row.time_zone,
    rollingDays: row.rolling_days,
    countedFromMs: row.counted_from.getTime(),
    isHard: row.is_hard,
    thresholdsPct: row.thresholds_pct,
  };
}

export function budgetToWire(row: BudgetRow, use: PeriodUse, nowMs: number): PeriodBudgetRecord {
  const { raise, amountUsd, scope, period, timeZone } = grantOf(row);
  const amount = Usd.parse(amountUsd);
  const raised = raise !== null && nowMs < raise.untilMs ? raise : null;
  return {
    id: row.id,
    org_id: row.org_id,
    scope,
    scope_id: row.scope_id,
    name: row.name,
    amount_usd: amount.toString(),
    period,
    time_zone: timeZone,
    rolling_days: row.rolling_days,
    raise: raised && {
      by_usd: Usd.parse(raised.byUsd).toString(),
      until: new Date(raised.untilMs).toISOString(),
    },
    effective_amount_usd: (raised === null ? amount : amount.plus(Usd.parse(raised.byUsd))).toString(),
    is_hard: row.is_hard,
    thresholds_pct: row.thresholds_pct,
    spent_usd: use.spentUsd,
    held_usd: use.heldUsd,
    period_start: new Date(use.startMs).toISOString(),
    period_end: use.endMs === null ? null : new Date(use.endMs).toISOString(),
    is_enabled: row.is_enabled,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

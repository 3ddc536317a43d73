import type { BudgetGrant, BudgetReading, ExtraCounter } from '@gateway/contracts';
import { settledNano, Usd } from '@gateway/money';
import { periodAt, type PeriodRange } from './budget-periods.js';

/**
 * Name of the counter of one period, in milliseconds since 1970. With another zone, period or time since which it is counted it has
 * another name, and so begins with what the ledger has.
 */
export function periodCounter({ startMs, endMs }: PeriodRange, countedFromMs: number): string {
  return `b:${startMs}-${endMs}.${countedFromMs}`;
}

/**
 * Counters of the periods in which a request counts. Where budgets of one scope share a counter, the smallest amount of a
 * hard one bounds it. Soft ones bound nothing.
 */
export function budgetCounters(budgets: readonly BudgetGrant[], atMs: number): ExtraCounter[] {
  const counters = new Map<string, ExtraCounter & { capNano: bigint | null }>();
  for (const grant of budgets) {
    const { id, name, scope: kind, scopeId } = grant;
    const range = periodAt(grant.period, grant.timeZone, atMs);
    const counter = periodCounter(range, grant.countedFromMs);
    const capNano = grant.isHard === false ? null : nanoAt(grant, atMs);
    const record = `${kind}:${scopeId}/${counter}`;
    const known = counters.get(record);
    if (known !== undefined && !isTighter(capNano, known.capNano)) continue;
    const budget = { id, name, scope: { kind, id: scopeId }, endMs: range.endMs };
    counters.set(record, { name: counter, rpm: null, rpd: null, tpm: null, capNano, budget });
  }
  return [...counters.values()];
}

/** Budgets with thresholds as a unit's record shows them; undefined where there is none. */
export function budgetReadings(
  budgets: readonly BudgetGrant[] | undefined,
  atMs: number,
): BudgetReading[] | undefined {
  if (budgets === undefined) return undefined;
  const readings = budgets.flatMap((grant): BudgetReading[] => {
    const { id: budget_id, name, scope, scopeId: scope_id, thresholdsPct = [] } = grant;
    if (thresholdsPct.length === 0) return [];
    const { startMs: start_ms, endMs: end_ms } = periodAt(grant.period, grant.timeZone, atMs);
    const amount_usd = Usd.fromNano(nanoAt(grant, atMs)).toString();
    const thresholds_pct = [...thresholdsPct];
    return [{ budget_id, name, scope, scope_id, amount_usd, thresholds_pct, start_ms, end_ms }];
  });
  return readings.length === 0 ? undefined : readings;
}

/** Returns the amount with the raise that holds then. */
function nanoAt({ amountUsd, raise }: BudgetGrant, atMs: number): bigint {
  const raised = raise !== null && atMs < raise.untilMs ? settledNano(raise.byUsd) : 0n;
  return settledNano(amountUsd) + raised;
}

/** True if the first bounds more than the second; null bounds nothing. */
function isTighter(one: bigint | null, other: bigint | null): boolean {
  return one !== null && (other === null || one < other);
}

import type { BudgetGrant, ExtraCounter } from '@gateway/contracts';
import { settledNano } from '@gateway/money';
import { periodAt, type PeriodRange } from './budget-periods.js';

/**
 * Name of the counter of one period, in milliseconds since 1970. With another zone, period or time since which it is counted it has
 * another name, and so begins with what the ledger has.
 */
export function periodCounter({ startMs, endMs }: PeriodRange, countedFromMs: number): string {
  return `b:${startMs}-${endMs}.${countedFromMs}`;
}

/**
 * Counters of the periods in which a request counts. Where budgets of one scope share a counter, the smallest amount
 * bounds it.
 */
export function budgetCounters(budgets: readonly BudgetGrant[], atMs: number): ExtraCounter[] {
  const counters = new Map<string, ExtraCounter & { capNano: bigint }>();
  for (const {
    id,
    name,
    scope: kind,
    scopeId,
    period,
    timeZone,
    amountUsd,
    raise,
    countedFromMs,
  } of budgets) {
    const range = periodAt(period, timeZone, atMs);
    const counter = periodCounter(range, countedFromMs);
    const raised = raise !== null && atMs < raise.untilMs ? settledNano(raise.byUsd) : 0n;
    const capNano = settledNano(amountUsd) + raised;
    const record = `${kind}:${scopeId}/${counter}`;
    const known = counters.get(record);
    if (known !== undefined && known.capNano <= capNano) continue;
    const budget = { id, name, scope: { kind, id: scopeId }, endMs: range.endMs };
    counters.set(record, { name: counter, rpm: null, rpd: null, tpm: null, capNano, budget });
  }
  return [...counters.values()];
}

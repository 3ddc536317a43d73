import type { BudgetGrant, BudgetReading, ExtraCounter } from '@gateway/contracts';
import { settledNano, Usd } from '@gateway/money';
import { periodAt } from './budget-periods.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

type Windowed = Pick<BudgetGrant, 'period' | 'timeZone' | 'rollingDays' | 'countedFromMs'>;

/** The time that a budget counts, in milliseconds since 1970, and the counter of the limit store that counts it. */
export interface BudgetWindow {
  counter: string;
  startMs: number;
  /** null of a rolling one. */
  endMs: number | null;
}

/**
 * Returns the time that a budget counts at an instant. With another zone, period or time since which it is counted its counter has
 * another name, and so begins with what the ledger has. A rolling one keeps its counter, and begins with a whole hour of UTC.
 */
export function budgetWindow(
  { period, timeZone, rollingDays, countedFromMs }: Windowed,
  atMs: number,
): BudgetWindow {
  if (period === 'rolling') {
    const days = rollingDays ?? 1;
    const startMs = Math.floor(atMs / HOUR_MS) * HOUR_MS - days * DAY_MS;
    return { counter: `b:r${days}.${countedFromMs}`, startMs, endMs: null };
  }
  const { startMs, endMs } = periodAt(period, timeZone ?? 'UTC', atMs);
  return { counter: `b:${startMs}-${endMs}.${countedFromMs}`, startMs, endMs };
}

/**
 * Counters of the periods in which a request counts. Where budgets of one scope share a counter, the smallest amount of a
 * hard one bounds it. Soft ones bound nothing.
 */
export function budgetCounters(budgets: readonly BudgetGrant[], atMs: number): ExtraCounter[] {
  const counters = new Map<string, ExtraCounter & { capNano: bigint | null }>();
  for (const grant of budgets) {
    const { id, name, scope: kind, scopeId } = grant;
    const { counter, endMs } = budgetWindow(grant, atMs);
    const capNano = grant.isHard === false ? null : nanoAt(grant, atMs);
    const record = `${kind}:${scopeId}/${counter}`;
    const known = counters.get(record);
    if (known !== undefined && !isTighter(capNano, known.capNano)) continue;
    const rolling = endMs === null ? { rollingDays: grant.rollingDays ?? 1 } : {};
    const budget = { id, name, scope: { kind, id: scopeId }, endMs, ...rolling };
    counters.set(record, { name: counter, rpm: null, rpd: null, tpm: null, capNano, budget });
  }
  return [...counters.values()];
}

/** Budgets with thresholds as a unit's record shows them; undefined where there is none. */
export function budgetReadings(budgets: readonly BudgetGrant[], atMs: number): BudgetReading[] | undefined {
  const readings = budgets.flatMap((grant): BudgetReading[] => {
    const { id: budget_id, name, scope, scopeId: scope_id, thresholdsPct = [] } = grant;
    if (thresholdsPct.length === 0) return [];
    const { startMs, endMs: end_ms } = budgetWindow(grant, atMs);
    const rolling = end_ms === null ? { rolling_days: grant.rollingDays ?? 1 } : {};
    const start_ms = end_ms === null ? null : startMs;
    const amount_usd = Usd.fromNano(nanoAt(grant, atMs)).toString();
    const thresholds_pct = [...thresholdsPct];
    return [{ budget_id, name, scope, scope_id, amount_usd, thresholds_pct, start_ms, end_ms, ...rolling }];
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

import type { Decimal } from 'decimal.js';

/** Span that a budget here counts. */
interface BudgetPeriod {
  period: 'day' | 'week' | 'month' | 'rolling';
  /** Days of a rolling one. */
  rolling_days?: number;
}

const PERIODS: Readonly<Record<string, BudgetPeriod['period']>> = {
  '1d': 'day',
  '24h': 'day',
  '7d': 'week',
  '1w': 'week',
  '30d': 'month',
  '1mo': 'month',
};
const DAYS = /^([1-9]\d{0,2})d$/;
const DAYS_MAX = 366;
const AMOUNT_DECIMALS = 12;

/** Names of the periods that a budget can have, for people. */
export const PERIODS_IN_WORDS = `periods are a day, a week, a month or 1 to ${DAYS_MAX} days`;

/** Returns the period that a duration such as `30d` is here; null where it is none. */
export function periodOf(duration: string | null): BudgetPeriod | null {
  const { [duration ?? '']: period } = PERIODS;
  if (period !== undefined) return { period };
  const rolling_days = Number(DAYS.exec(duration ?? '')?.[1] ?? 0);
  return rolling_days < 1 || rolling_days > DAYS_MAX ? null : { period: 'rolling', rolling_days };
}

/** Returns an amount of USD as budgets and caps have it. */
export function amountOf(amount: Decimal): string {
  return amount.toDecimalPlaces(AMOUNT_DECIMALS).toFixed();
}

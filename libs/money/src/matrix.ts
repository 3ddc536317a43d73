import type { PriceMatrixRow } from '@gateway/contracts';
import { compare, decimalText, fromDecimal } from './exact.js';
import type { Exact } from './exact.js';
import type { Condition, ContextValue, PriceContext } from './price-record.js';

const DECIMAL = /^-?\d{1,20}(\.\d{1,12})?$/;

/** `open`: no condition fails, but the context lacks a key, so a later, fuller context may make it hold. */
export type RowMatch = 'holds' | 'open' | 'fails';

export function matchRow(when: PriceMatrixRow['when'], context: PriceContext): RowMatch {
  let match: RowMatch = 'holds';
  for (const [key, condition] of Object.entries(when)) {
    const value = Object.hasOwn(context, key) ? context[key] : undefined;
    if (value === undefined || value === null) match = 'open';
    else if (!conditionHolds(condition, value)) return 'fails';
  }
  return match;
}

function conditionHolds(condition: Condition, value: ContextValue): boolean {
  if (typeof condition !== 'object') return canonical(condition) === canonical(value);
  if (isList(condition)) return condition.some((one) => canonical(one) === canonical(value));
  const amount = decimalOf(value);
  if (amount === null) return false;
  return within(condition.min, amount, 1) && within(condition.max, amount, -1);
}

function isList(condition: Condition): condition is ContextValue[] {
  return Array.isArray(condition);
}

/** A bound that is absent holds; one that is no decimal never does. */
function within(bound: string | number | undefined, amount: Exact, side: 1 | -1): boolean {
  if (bound === undefined) return true;
  const limit = decimalOf(bound);
  return limit !== null && compare(amount, limit) !== -side;
}

function canonical(value: ContextValue): string {
  const amount = decimalOf(value);
  return amount === null ? String(value).toLowerCase() : decimalText(amount.n, amount.k);
}

function decimalOf(value: ContextValue): Exact | null {
  const text = String(value);
  return DECIMAL.test(text) ? fromDecimal(text) : null;
}

import { ZERO, compare, divide, fromDecimal, fromInteger, multiply, roundTo } from './exact.js';
import type { Exact } from './exact.js';

const SECONDS = /^\d{1,15}(\.\d{1,12})?$/;

/** Seconds of a usage or a record; what is absent, negative or no number is 0. */
export function secondsOf(value: string | number | null | undefined): Exact {
  if (value === null || value === undefined) return ZERO;
  // Nanoseconds are enough, and cut off what binary fractions add: 0.1 + 0.2 is 0.3 s.
  const text = typeof value === 'number' ? (Number.isFinite(value) ? value.toFixed(9) : '') : value;
  return SECONDS.test(text) ? fromDecimal(text) : ZERO;
}

/** max(minimum, ceil(seconds / increment) * increment); an increment of 0 is exact; 0 s bill 0. */
export function billedSeconds(seconds: Exact, increment: Exact, minimum: Exact): Exact {
  if (seconds.n === 0n) return ZERO;
  const stepped =
    increment.n === 0n
      ? seconds
      : multiply(fromInteger(roundTo(divide(seconds, increment), 0, 'up')), increment);
  return compare(stepped, minimum) < 0 ? minimum : stepped;
}

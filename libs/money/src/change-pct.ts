import { add, compare, divide, fromDecimal, fromInteger, multiply, roundTo, ZERO } from './exact.js';

const HUNDRED = fromInteger(100);

/** Returns the change of a rate in per cent, to a tenth; null from nothing, from 0 or to nothing. */
export function changePct(from: string | null | undefined, to: string | null | undefined): number | null {
  if (from == null || to == null) return null;
  const [before, after] = [fromDecimal(from), fromDecimal(to)];
  if (compare(before, ZERO) <= 0) return null;
  const change = add(after, multiply(before, fromInteger(-1)));
  return Number(roundTo(divide(multiply(change, HUNDRED), before), 1, 'half-up')) / 10;
}

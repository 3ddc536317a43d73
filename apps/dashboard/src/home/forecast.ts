import { scaleUsd } from '../format/money.js';

/** Part of a month that has to be over before its spend says anything of the whole. */
const ENOUGH = 0.03;

/** Returns the spend of a whole month at the pace of its part that is over; null where that is too short. */
export function forecastOf(spentUsd: string, passed: number): string | null {
  return passed < ENOUGH ? null : scaleUsd(spentUsd, 1 / Math.min(passed, 1));
}

import type { Schemas } from '../api/schemas.js';
import { usdRatio } from './money.js';

const YEAR_DAYS = 365;
const AT = 'at the 3-day average';

/**
 * Returns the days that a balance lasts, in words; empty where nothing was spent. The averages are the server's, of
 * three days each: that up to yesterday, because today is not over, or that with today where it is higher, because more
 * goes today.
 */
export function daysLeft(availableUsd: string, buckets: Schemas['SpendTrend']['buckets']): string {
  const ratios = buckets
    .slice(-2)
    .map(({ moving_average_usd: average }) => usdRatio(availableUsd, average))
    .filter((ratio) => ratio !== null);
  if (ratios.length === 0) return '';
  const days = Math.min(...ratios);
  if (days <= 0) return 'Nothing is left';
  if (days < 1) return `Less than a day left ${AT}`;
  if (days > YEAR_DAYS) return `More than a year left ${AT}`;
  const whole = Math.floor(days);
  return `About ${whole} ${whole === 1 ? 'day' : 'days'} left ${AT}`;
}

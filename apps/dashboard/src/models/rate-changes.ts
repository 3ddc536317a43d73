import { usdRatio } from '../format/money.js';
import type { Pricing } from './models.queries.js';

type Rates = Pick<Pricing, 'prompt_usd_per_1m' | 'completion_usd_per_1m'>;

/** Returns how input and output of one model are priced beside those of another, in words. */
export function rateChanges(before: Rates, after: Rates): string {
  const words = [
    change('input', before.prompt_usd_per_1m, after.prompt_usd_per_1m),
    change('output', before.completion_usd_per_1m, after.completion_usd_per_1m),
  ].filter((text) => text !== null);
  return words.length === 0 ? 'its price has other units' : words.join(', ');
}

function change(what: string, before: string | null | undefined, after: string | null | undefined) {
  const ratio = before == null || after == null ? null : usdRatio(after, before);
  if (ratio === null) return null;
  const percent = Math.round(Math.abs(ratio - 1) * 100);
  if (percent === 0) return `${what} costs the same`;
  return `${what} costs ${percent.toLocaleString('en-US')}% ${ratio > 1 ? 'more' : 'less'}`;
}

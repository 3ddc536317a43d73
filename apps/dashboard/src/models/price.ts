import type { Pricing } from './models.queries.js';

/** One line of a price, as people read it. */
export interface PriceLine {
  field: string;
  label: string;
  usd: string;
}

/** Fields that are rates, with their unit in the name: `cache_read_input_usd_per_1m`. */
const RATE = /^(.+?)_?usd(?:_per_(.+))?$/;
const UNITS: Readonly<Record<string, string>> = {
  '1m': 'per million tokens',
  '1k': 'per thousand',
  unit: 'per unit',
  second: 'per second',
  minute: 'per minute',
};

/** The rates that are set, in the order of the record. */
export function priceLines(pricing: Pricing): PriceLine[] {
  return Object.entries(pricing).flatMap(([field, usd]) => {
    const [, what = '', unit] = RATE.exec(field) ?? [];
    if (what === '' || typeof usd !== 'string') return [];
    const words = what.replaceAll('_', ' ');
    const name = `${words[0].toUpperCase()}${words.slice(1)}`;
    return [{ field, label: `${name} ${unit === undefined ? 'each' : (UNITS[unit] ?? unit)}`, usd }];
  });
}

/** Returns the price shown in a list: that of a prompt, or the first rate there is. */
export function mainRate(
  pricing: Pricing,
  field: 'prompt_usd_per_1m' | 'completion_usd_per_1m',
): string | null {
  return pricing.discounted?.[field] ?? pricing[field] ?? null;
}

/** Day that the API gives a price whose beginning it does not know. */
const NOT_KNOWN = '1970-01-01';

/** Returns the day from which a price holds, in words where no day is known. */
export function stepStart(day: string): string {
  return day === NOT_KNOWN ? 'the start' : day;
}

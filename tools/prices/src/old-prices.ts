import { readFileSync } from 'node:fs';
import type { readSeed } from '@gateway/catalogue';

type Seed = ReturnType<typeof readSeed>;

/** A price whose source was read longer ago than it should have been. */
export interface OldPrice {
  model: string;
  provider: string;
  upstream_model: string;
  source: string;
  source_date: string;
  age_days: number;
  /** Word of `old-sources.json`; null where it has none. */
  why: string | null;
}

const DAY_MS = 86_400_000;
const LISTED = new URL('../../../libs/services/catalogue/data/old-sources.json', import.meta.url);
/** Words of `old-sources.json`. */
const WHY: Readonly<Record<string, string>> = {
  unread: 'no newer page or table with this price could be read',
  part: 'newer tables have these rates, but not all that this price has',
  differs: 'a newer table has another rate, and no second one agrees',
};
/** Prices of our own simulator have no source that could change. */
const BUILT_IN = 'built in';

/** Returns the old prices for which no newer source was found, each with the word of its reason. */
export function listedPrices(): Record<string, string> {
  return JSON.parse(readFileSync(LISTED, 'utf8')) as Record<string, string>;
}

/** Every price whose source is older than so many days, the oldest first. */
export function oldPrices({ models }: Pick<Seed, 'models'>, nowMs: number, days: number): OldPrice[] {
  const listed = new Map(Object.entries(listedPrices()));
  return models
    .flatMap(({ id, routes }) =>
      routes.map(({ provider, upstream_model, source, source_date }) => ({
        model: id,
        provider,
        upstream_model,
        source,
        source_date,
        age_days: Math.floor((nowMs - Date.parse(`${source_date}T00:00:00Z`)) / DAY_MS),
        why: listed.get(`${id} on ${provider}`) ?? null,
      })),
    )
    .filter(({ source, age_days: age }) => source !== BUILT_IN && age > days)
    .toSorted((a, b) => b.age_days - a.age_days || (a.model < b.model ? -1 : 1));
}

/** One line a price with the reason why it stands, and a sum. */
export function report(
  found: readonly OldPrice[],
  { prices, days }: { prices: number; days: number },
): string {
  const lines = found.map(
    ({ age_days: age, source_date: day, model, provider, source, why }) =>
      `${String(age).padStart(5)} days  ${day}  ${model} on ${provider}  ${source}  ${reason(why)}`,
  );
  const listed = found.filter(({ why }) => why !== null).length;
  const sum = `${found.length} of ${prices} prices have a source older than ${days} days`;
  return [...lines, `${sum}, ${listed} of them for a reason that old-sources.json names`, ''].join('\n');
}

function reason(why: string | null): string {
  return why === null ? '(nobody has looked for a newer one)' : `(${WHY[why] ?? why})`;
}

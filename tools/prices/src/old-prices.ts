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
}

const DAY_MS = 86_400_000;
/** Prices of our own simulator have no source that could change. */
const BUILT_IN = 'built in';

/** Every price whose source is older than so many days, the oldest first. */
export function oldPrices({ models }: Pick<Seed, 'models'>, nowMs: number, days: number): OldPrice[] {
  return models
    .flatMap(({ id, routes }) =>
      routes.map(({ provider, upstream_model, source, source_date }) => ({
        model: id,
        provider,
        upstream_model,
        source,
        source_date,
        age_days: Math.floor((nowMs - Date.parse(`${source_date}T00:00:00Z`)) / DAY_MS),
      })),
    )
    .filter(({ source, age_days: age }) => source !== BUILT_IN && age > days)
    .toSorted((a, b) => b.age_days - a.age_days || (a.model < b.model ? -1 : 1));
}

/** One line a price, and a sum. */
export function report(
  found: readonly OldPrice[],
  { prices, days }: { prices: number; days: number },
): string {
  const lines = found.map(
    ({ age_days: age, source_date: day, model, provider, source }) =>
      `${String(age).padStart(5)} days  ${day}  ${model} on ${provider}  ${source}`,
  );
  return [...lines, `${found.length} of ${prices} prices have a source older than ${days} days`, ''].join(
    '\n',
  );
}

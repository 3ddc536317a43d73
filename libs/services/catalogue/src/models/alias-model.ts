import type { Alias, ModelRecord } from '@gateway/contracts';
import { comparePrices, type PricedRoute } from '@gateway/money';
import type { ModelNow } from './prices-now.js';

/** A target of an alias that a caller may use. */
export interface TargetNow {
  model: ModelNow;
  weight: number;
}

/**
 * Returns the record of an alias in lists of models: what all its targets have, and the price of the dearest, so that it
 * never shows less than what may be billed.
 */
export function aliasModel({ name }: Alias, targets: readonly TargetNow[]): ModelNow {
  const records = targets.map(({ model }) => model.record);
  const dearest = targets.map(({ model }) => model).reduce(dearer);
  const [{ model: first }] = targets;
  const flags = Object.keys(first.record).filter((field) => field.startsWith('supports_'));
  const slash = name.indexOf('/');
  const { description: _ofModel, ...record } = first.record;
  return {
    ...first,
    released: null,
    routes: dearest.routes,
    record: {
      ...record,
      ...Object.fromEntries(
        flags.map((flag) => [flag, records.every((one) => one[flag as `supports_${string}`])]),
      ),
      ...{
        id: name,
        name,
        brand: slash < 0 ? 'alias' : name.slice(0, slash),
        pricing: dearest.record.pricing,
      },
      context_length: Math.min(...records.map((one) => one.context_length)),
      max_output_tokens: leastOf(records.map((one) => one.max_output_tokens)),
      is_free: records.every((one) => one.is_free),
      input_modalities: sharedOf(records, 'input_modalities'),
      output_modalities: sharedOf(records, 'output_modalities'),
      retires_at: records.flatMap((one) => one.retires_at ?? []).toSorted()[0] ?? null,
      successor: null,
      is_alias: true,
      resolves_to: targets.map(({ model, weight }) => ({ model: model.record.id, weight })),
    },
  };
}

function dearer(one: ModelNow, other: ModelNow): ModelNow {
  const offer = ({ record: { pricing } }: ModelNow): PricedRoute => ({ provider: '', record: pricing });
  return comparePrices(offer(other), offer(one)) > 0 ? other : one;
}

/** Null where none is known. */
function leastOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function sharedOf(
  [first, ...others]: readonly ModelRecord[],
  field: 'input_modalities' | 'output_modalities',
): string[] {
  return first[field].filter((value) => others.every((other) => other[field].includes(value)));
}

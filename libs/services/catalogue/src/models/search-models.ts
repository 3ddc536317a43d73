import {
  ApiError,
  type CatalogueModel,
  type ModelFacets,
  type ModelRecord,
  type SearchModelsQuery,
} from '@gateway/contracts';
import { compareOutputPrices, type PricedOutput } from '@gateway/money';
import { FLAGS } from '../snapshots/supports-flags.js';

/** Text that sorts after every day. */
const NEVER = '~';
const PRICED_OUTPUTS: readonly string[] = ['text', 'image', 'video'] satisfies PricedOutput[];
/** Modalities of the release's records; a model of an operator's own may have others. */
const MODALITIES: readonly string[] = [
  ...['text', 'image', 'audio', 'video', 'file'],
  ...['embedding', 'rerank', 'search_results'],
];

/**
 * Models for which everything holds that the query asks, the best match first, and how many of them have what.
 * Throws ApiError `bad_request` for a price that cannot be compared, `validation_error` for an unknown flag or modality.
 */
export function searchModels(
  models: readonly CatalogueModel[],
  query: SearchModelsQuery,
): { found: CatalogueModel[]; facets: ModelFacets } {
  for (const [at, flag] of (query.capability ?? []).entries())
    if (!FLAGS.includes(flag)) throw unknownWord('capability', flag, ['capability', at]);
  requireModalities(models, query);
  const output = query.sort === 'price' ? pricedOutput(query) : null;
  const words = (query.q ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const found = models
    .map((model) => ({ model, rank: rankOf(model.record, words) }))
    .filter(({ model, rank }) => rank !== null && holds(model.record, query))
    .sort(
      (a, b) =>
        (output === null ? 0 : compareOutputPrices(priceOf(a.model), priceOf(b.model), output)) ||
        compareBy(query.sort, a.model.record, b.model.record) ||
        (a.rank ?? 0) - (b.rank ?? 0) ||
        (a.model.record.id < b.model.record.id ? -1 : 1),
    )
    .map(({ model }) => model);
  return { found, facets: facetsOf(found) };
}

/** Compares by a field; 0 where the order is of none. A model without a context stands last in both directions. */
function compareBy(sort: SearchModelsQuery['sort'], a: ModelRecord, b: ModelRecord): number {
  const direction = sort?.startsWith('-') ? -1 : 1;
  if (sort === 'name' || sort === '-name') return direction * compareNames(a.name, b.name);
  if (sort !== 'context_length' && sort !== '-context_length') return 0;
  const [one, other] = [a.context_length, b.context_length];
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return direction * (one - other);
}

/** Compares as people read: neither case nor the locale of the server decides. */
function compareNames(a: string, b: string): number {
  const [one, other] = [a.toLowerCase(), b.toLowerCase()];
  return one === other ? 0 : one < other ? -1 : 1;
}

/** The shown price, which has no `is_free` of its own. */
function priceOf({ record }: CatalogueModel): ModelRecord['pricing'] {
  return record.is_free ? { ...record.pricing, is_free: true } : record.pricing;
}

/** Prices of different things have no order: the caller says which. */
function pricedOutput({ output_modality: outputs = [] }: SearchModelsQuery): PricedOutput {
  const [output] = outputs;
  if (outputs.length === 1 && PRICED_OUTPUTS.includes(output)) return output as PricedOutput;
  throw new ApiError('bad_request', {
    message: 'sort=price takes exactly one output_modality of text, image or video.',
    param: 'sort',
  });
}

function unknownWord(kind: 'capability' | 'modality', word: string, loc: [string, number]): ApiError {
  const msg = `No ${kind} is called ${word}.`;
  return new ApiError('validation_error', {
    message: msg,
    details: [{ type: 'enum', loc, msg }],
  });
}

/** A word that nothing has is a slip of the pen, and an empty list would hide it. */
function requireModalities(models: readonly CatalogueModel[], query: SearchModelsQuery): void {
  const has = (name: 'input_modalities' | 'output_modalities', word: string): boolean =>
    MODALITIES.includes(word) || models.some(({ record }) => record[name].includes(word));
  for (const [name, side] of [
    ['input_modality', 'input_modalities'],
    ['output_modality', 'output_modalities'],
  ] as const) {
    const at = query[name]?.findIndex((word) => !has(side, word)) ?? -1;
    const word = query[name]?.[at];
    if (word !== undefined) throw unknownWord('modality', word, [name, at]);
  }
}

/** 0 for the id or name itself, then: begins so, stands in the id or name, stands in the description. Null: no match. */
function rankOf({ id, name, description = '' }: ModelRecord, words: readonly string[]): number | null {
  if (words.length === 0) return 0;
  const [lowerName, lowerId, said] = [name.toLowerCase(), id.toLowerCase(), description.toLowerCase()];
  const titles = `${lowerId} ${lowerName}`;
  if (!words.every((word) => titles.includes(word) || said.includes(word))) return null;
  const whole = words.join(' ');
  const own = lowerId.slice(lowerId.indexOf('/') + 1);
  if ([lowerId, lowerName, own].includes(whole)) return 0;
  if (own.startsWith(whole) || lowerName.startsWith(whole)) return 1;
  return words.every((word) => titles.includes(word)) ? 2 : 3;
}

function holds(record: ModelRecord, query: SearchModelsQuery): boolean {
  const { capability = [], brand, input_modality: inputs = [], output_modality: outputs = [] } = query;
  return (
    (brand === undefined || record.brand === brand) &&
    capability.every((flag) => record[`supports_${flag}`]) &&
    inputs.every((modality) => record.input_modalities.includes(modality)) &&
    outputs.every((modality) => record.output_modalities.includes(modality)) &&
    record.context_length >= (query.min_context ?? 0) &&
    (query.retires_before === undefined || (record.retires_at ?? NEVER) < query.retires_before)
  );
}

function facetsOf(models: readonly CatalogueModel[]): ModelFacets {
  const count = (valuesOf: (model: CatalogueModel) => readonly string[]): ModelFacets[keyof ModelFacets] => {
    const counts = new Map<string, number>();
    for (const model of models)
      for (const value of new Set(valuesOf(model))) counts.set(value, (counts.get(value) ?? 0) + 1);
    return [...counts]
      .map(([value, found]) => ({ value, count: found }))
      .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
  };
  return {
    brand: count(({ record }) => [record.brand]),
    model_type: count(({ record }) => [record.model_type]),
    capability: count(({ record }) => FLAGS.filter((flag) => record[`supports_${flag}`])),
    input_modality: count(({ record }) => record.input_modalities),
    output_modality: count(({ record }) => record.output_modalities),
    provider: count(({ routes }) => routes.map(({ provider }) => provider)),
  };
}

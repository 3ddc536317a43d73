import type { PriceRecord } from '@gateway/contracts';
import { changedFields } from '../seed/model-fields.js';
import type { KnownModels } from '../seed/known-models.js';
import type { SeedModel } from '../seed/seed-record.js';

/** A rate that a load takes away from a route that goes on. */
interface EmptiedPrice {
  model: string;
  provider: string;
  upstream_model: string;
  field: string;
}

/** The changes of a load, as POST /v1/admin/catalogue/import returns them. */
export interface CatalogueDiff {
  added: string[];
  removed: string[];
  changed: { id: string; fields: string[] }[];
  unchanged: number;
  emptied_prices: EmptiedPrice[];
}

/** Share of the models above which a load that drops them has to be forced. */
const REMOVED_SHARE_MAX = 0.1;

/** Compares a load with what there is. One that replaces everything removes what it does not name. */
export function catalogueDiff(
  known: KnownModels,
  load: readonly SeedModel[],
  replaces: boolean,
): CatalogueDiff {
  const ids = new Set(load.map(({ id }) => id));
  const diff: CatalogueDiff = {
    added: [],
    removed: replaces ? [...known.keys()].filter((id) => !ids.has(id)).sort() : [],
    changed: [],
    unchanged: 0,
    emptied_prices: [],
  };
  for (const model of load) {
    const before = known.get(model.id);
    if (before === undefined) {
      diff.added.push(model.id);
      continue;
    }
    const fields = changedFields(before, model);
    if (fields.length === 0) diff.unchanged += 1;
    else diff.changed.push({ id: model.id, fields });
    diff.emptied_prices.push(...emptied(before, model));
  }
  return diff;
}

/** Returns the reason why a load must be forced; null where it need not be. */
export function guard(diff: CatalogueDiff, known: KnownModels): string | null {
  const { removed, emptied_prices: prices } = diff;
  if (removed.length > known.size * REMOVED_SHARE_MAX)
    return `It would drop ${removed.length} of ${known.size} models.`;
  if (prices.length === 0) return null;
  const [{ model, provider, field }] = prices;
  return `It would empty ${prices.length} prices, ${field} of ${model} at ${provider} among them.`;
}

function emptied(before: SeedModel, after: SeedModel): EmptiedPrice[] {
  return before.routes.flatMap(({ provider, upstream_model, price }) => {
    const next = after.routes.find(
      (route) => route.provider === provider && route.upstream_model === upstream_model,
    );
    if (next === undefined) return [];
    return rateFields(price)
      .filter((field) => isSet(price[field]) && !isSet(next.price[field]))
      .map((field) => ({ model: before.id, provider, upstream_model, field }));
  });
}

function rateFields(price: PriceRecord): (keyof PriceRecord)[] {
  return (Object.keys(price) as (keyof PriceRecord)[]).filter((field) =>
    /usd|matrix|tool_pricing/.test(field),
  );
}

function isSet(value: unknown): boolean {
  return value !== null && value !== undefined;
}

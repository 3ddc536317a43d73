import type { PriceRecord } from '@gateway/contracts';
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

/** Models that are enabled now, as a load could have written them. */
export type KnownModels = ReadonlyMap<string, SeedModel>;

/** Share of the models above which a load that drops them has to be forced. */
const REMOVED_SHARE_MAX = 0.1;

export function catalogueDiff(known: KnownModels, load: readonly SeedModel[]): CatalogueDiff {
  const ids = new Set(load.map(({ id }) => id));
  const diff: CatalogueDiff = {
    added: [],
    removed: [...known.keys()].filter((id) => !ids.has(id)).sort(),
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

/** Names of the fields whose content differs, whatever the order of members and of lists that have none. */
function changedFields(before: SeedModel, after: SeedModel): string[] {
  const [left, right] = [comparable(before), comparable(after)];
  return Object.keys(left)
    .filter((field) => canonical(left[field]) !== canonical(right[field]))
    .sort();
}

function comparable(model: SeedModel): Record<string, unknown> {
  const supports = new Set([...model.supports, 'system_prompt']);
  for (const flag of model.lacks ?? []) supports.delete(flag);
  return {
    name: model.name,
    model_type: model.model_type,
    context_length: model.context_length,
    max_output_tokens: model.max_output_tokens ?? null,
    input_modalities: [...model.input_modalities].sort(),
    output_modalities: [...model.output_modalities].sort(),
    supports: [...supports].sort(),
    reasoning: model.reasoning,
    fixes_sampling: model.fixes_sampling ?? false,
    released: model.released ?? null,
    description: model.description ?? null,
    composite_models: model.composite_models ?? [],
    routes: model.routes
      .map((route) => ({
        provider: route.provider,
        upstream_model: route.upstream_model,
        dialect: route.dialect,
        context_length: route.context_length ?? model.context_length,
        max_output_tokens: route.max_output_tokens ?? model.max_output_tokens ?? null,
        retires_at: route.retires_at ?? null,
        price: withoutNulls(route.price),
      }))
      .sort((a, b) => (canonical(a) < canonical(b) ? -1 : 1)),
  };
}

function withoutNulls(price: PriceRecord): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(price).filter(([field, value]) => isSet(value) && field !== 'effective_date'),
  );
}

function canonical(value: unknown): string {
  const sorted = (_key: string, member: unknown): unknown =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member;
  return JSON.stringify(value, sorted);
}

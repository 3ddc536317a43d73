import type { PriceRecord } from '@gateway/contracts';
import { canonicalJson } from '@gateway/json-body';
import type { SeedModel, SeedRoute } from './seed-record.js';

/** A price with the page that it is from: what one edit of a price replaces, because rates of two sources are no price. */
export type SourcedPrice = Pick<SeedRoute, 'price' | 'source' | 'source_date' | 'effective_date'>;

/** Contents of a model beside its routes, by field, each in one form whatever was left out. */
export function modelFields(model: SeedModel) {
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
    successor: model.successor ?? null,
  };
}

/** Contents of a route by field. A limit that is the model's own is null, so that it follows the model. */
export function routeFields(model: SeedModel, route: SeedRoute) {
  const { context_length = null, max_output_tokens = null } = route;
  return {
    dialect: route.dialect,
    context_length: context_length === model.context_length ? null : context_length,
    max_output_tokens: max_output_tokens === (model.max_output_tokens ?? null) ? null : max_output_tokens,
    retires_at: route.retires_at ?? null,
    regions: route.regions === undefined ? null : [...route.regions].sort(),
    zero_retention: route.zero_retention ?? null,
    price: sourcedPrice(route),
  };
}

function sourcedPrice({ price, source, source_date, effective_date }: SeedRoute): SourcedPrice {
  return { price, source, source_date, effective_date };
}

export type ModelField = keyof ReturnType<typeof modelFields>;
export type RouteField = keyof ReturnType<typeof routeFields>;

/** True if two contents of a field say the same. Of a price only the rates count, whatever page says them. */
export function isSame(field: ModelField | RouteField | 'is_enabled', one: unknown, other: unknown): boolean {
  return text(field, one) === text(field, other);
}

function text(field: string, value: unknown): string {
  const isPrice = field === 'price' && typeof value === 'object' && value !== null && 'price' in value;
  return canonicalJson(isPrice ? ratesOf(value.price as PriceRecord) : value);
}

function ratesOf(price: PriceRecord): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(price).filter(
      ([field, value]) => value !== null && value !== undefined && field !== 'effective_date',
    ),
  );
}

/** Names of the fields whose content differs, `routes` for all that stands on routes. */
export function changedFields(before: SeedModel, after: SeedModel): string[] {
  const [left, right] = [modelFields(before), modelFields(after)];
  const changed: string[] = (Object.keys(left) as ModelField[]).filter(
    (field) => !isSame(field, left[field], right[field]),
  );
  if (routesText(before) !== routesText(after)) changed.push('routes');
  return changed.sort();
}

function routesText(model: SeedModel): string {
  const routes = model.routes.map((route) => {
    const { price, ...fields } = routeFields(model, route);
    return text('routes', { ...fields, rates: text('price', price), target: targetOf(route) });
  });
  return routes.sort().join('\n');
}

/** Provider and upstream model of a route in one text, unique within its model. */
export function targetOf({ provider, upstream_model }: { provider: string; upstream_model: string }): string {
  return `${provider} ${upstream_model}`;
}

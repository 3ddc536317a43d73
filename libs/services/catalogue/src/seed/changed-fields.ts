import type { PriceRecord } from '@gateway/contracts';
import { canonicalJson } from '@gateway/json-body';
import type { SeedModel } from './seed-record.js';

/** Names of the fields whose content differs, whatever the order of members and of lists that have none. */
export function changedFields(before: SeedModel, after: SeedModel): string[] {
  const [left, right] = [comparable(before), comparable(after)];
  return Object.keys(left)
    .filter((field) => canonicalJson(left[field]) !== canonicalJson(right[field]))
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
      .sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1)),
  };
}

function withoutNulls(price: PriceRecord): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(price).filter(
      ([field, value]) => value !== null && value !== undefined && field !== 'effective_date',
    ),
  );
}

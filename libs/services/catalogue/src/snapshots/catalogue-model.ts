import type {
  CatalogueModel,
  DialectName,
  ModelRecord,
  ModelType,
  PriceRecord,
  ReasoningStyle,
  Route,
} from '@gateway/contracts';
import { TEXT_DIALECTS } from '@gateway/dialects';
import { cheapestRoute, withNulls } from '@gateway/money';
import { supportsFlags } from './supports-flags.js';

/** A model as it is stored, without its routes. */
export interface StoredModel {
  id: string;
  name: string;
  brand: string;
  model_type: ModelType;
  context_length: number;
  max_output_tokens: number | null;
  input_modalities: string[];
  output_modalities: string[];
  supports: string[];
  reasoning: ReasoningStyle;
  fixes_sampling: boolean;
  /** YYYY-MM-DD */
  released: string | null;
}

/** A route as it is stored, with the price that applies. */
export interface StoredRoute {
  provider: string;
  upstream_model: string;
  dialect: DialectName;
  context_length: number;
  max_output_tokens: number | null;
  /** YYYY-MM-DD */
  effective_date: string;
  price: PriceRecord;
}

/** The dialects each provider of this release speaks, by slug. */
export type Adapters = ReadonlyMap<string, readonly DialectName[]>;

/**
 * The model with the routes that this release can call, or null where none is left: then it is not enabled.
 * A text model needs an adapter that speaks a text dialect. A model of another type needs a provider that is known:
 * it is listed, and its flags say that chat completions cannot use it.
 */
export function catalogueModel(
  model: StoredModel,
  stored: readonly StoredRoute[],
  adapters: Adapters,
): CatalogueModel | null {
  const routes = stored
    .filter((route) => isEnabled(model, route, adapters))
    .map((route) => toRoute(model, route));
  const cheapest = cheapestRoute(
    routes.map((route) => ({ provider: route.provider, record: route.price, route })),
  );
  if (cheapest === null) return null;
  return {
    record: toRecord(model, routes, cheapest.route.price),
    reasoning: model.reasoning,
    fixesSampling: model.fixes_sampling,
    released: model.released,
    routes,
  };
}

function isEnabled(model: StoredModel, route: StoredRoute, adapters: Adapters): boolean {
  const spoken = adapters.get(route.provider);
  if (spoken === undefined) return false;
  return model.model_type !== 'text' || (TEXT_DIALECTS.has(route.dialect) && spoken.includes(route.dialect));
}

function toRoute(model: StoredModel, route: StoredRoute): Route {
  return {
    provider: route.provider,
    model: model.id,
    upstreamModel: route.upstream_model,
    dialect: route.dialect,
    contextLength: route.context_length,
    maxOutputTokens: route.max_output_tokens,
    price: { ...route.price, effective_date: route.effective_date },
  };
}

/** The record of spec, Model record. What `pricing` does not bill is null. */
function toRecord(model: StoredModel, routes: readonly Route[], price: PriceRecord): ModelRecord {
  return {
    id: model.id,
    name: model.name,
    brand: model.brand,
    model_type: model.model_type,
    context_length: model.context_length,
    max_output_tokens: model.max_output_tokens,
    is_free: routes.every((route) => route.price.is_free === true),
    input_modalities: model.input_modalities,
    output_modalities: model.output_modalities,
    ...supportsFlags(model.supports),
    is_composite: false,
    composite_models: [],
    pricing: pricing(price),
  };
}

function pricing(price: PriceRecord): PriceRecord {
  const { is_free: _isFree, pricing_unit: unit, ...rates } = price;
  return {
    pricing_unit: unit ?? null,
    ...withNulls(rates),
    long_context_threshold_tokens: price.long_context_threshold_tokens ?? null,
    billing_increment_seconds: price.billing_increment_seconds ?? null,
    billing_minimum_seconds: price.billing_minimum_seconds ?? null,
    tool_pricing: price.tool_pricing ?? null,
    price_matrix: price.price_matrix ?? null,
    effective_date: price.effective_date ?? null,
    discount_pct: null,
  };
}

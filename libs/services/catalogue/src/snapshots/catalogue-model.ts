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
import { isoDay } from '../iso-day.js';
import { describe } from './describe.js';
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
  description: string | null;
  composite_models: string[];
  successor: string | null;
}

/** A route as it is stored, with the price that applies and what its provider is known for. */
export interface StoredRoute {
  provider: string;
  upstream_model: string;
  dialect: DialectName;
  context_length: number;
  max_output_tokens: number | null;
  /** YYYY-MM-DD */
  effective_date: string;
  /** First day on which it is gone, YYYY-MM-DD. */
  retires_at: string | null;
  regions: string[];
  zero_retention: boolean | null;
  price: PriceRecord;
  /** Public address of the price, or "built in". */
  source: string;
  /** YYYY-MM-DD */
  source_date: string;
}

/** The routes that this release can call, and the time of the question. */
export interface Release {
  /** The dialects each provider speaks, by slug. */
  adapters: ReadonlyMap<string, readonly DialectName[]>;
  /** Paths of the inference endpoints, below /v1. */
  paths: ReadonlySet<string>;
  nowMs: number;
}

/**
 * The model with the routes that this release can call, or null where none is left: then it is not enabled.
 * A text model needs an adapter that speaks a text dialect; one that judges, searches or puts in order, its own. A model
 * of another type needs a provider that is known: it is listed, and its flags say that chat completions cannot use it.
 */
export function catalogueModel(
  model: StoredModel,
  stored: readonly StoredRoute[],
  release: Release,
): CatalogueModel | null {
  const routes = stored
    .filter((route) => isEnabled(model, route, release))
    .map((route) => toRoute(model, route));
  const cheapest = cheapestRoute(
    routes.map((route) => ({ provider: route.provider, record: route.price, route })),
  );
  if (cheapest === null) return null;
  return {
    record: {
      ...toRecord(model, release),
      is_free: routes.every((route) => route.price.is_free === true),
      retires_at: lastDay(routes),
      pricing: pricing(cheapest.route.price),
    },
    reasoning: model.reasoning,
    fixesSampling: model.fixes_sampling,
    released: model.released,
    routes,
  };
}

/**
 * A name for several models, or null where one of them is not enabled. It has no routes and no price of its own: what is
 * asked is its members, each at its own price.
 */
export function compositeModel(
  model: StoredModel,
  enabled: ReadonlyMap<string, CatalogueModel>,
  release: Release,
): CatalogueModel | null {
  const members = model.composite_models.flatMap((id) => enabled.get(id) ?? []);
  if (members.length < model.composite_models.length) return null;
  return {
    record: {
      ...toRecord({ ...model, supports: model.supports.filter((flag) => flag === 'system_prompt') }, release),
      is_composite: true,
      composite_models: model.composite_models,
      is_free: members.every(({ record }) => record.is_free),
      retires_at: null,
      pricing: pricing({}),
    },
    reasoning: model.reasoning,
    fixesSampling: model.fixes_sampling,
    released: model.released,
    routes: [],
  };
}

/** The record of a model that nobody serves: it has no price. */
export function unservedRecord(model: StoredModel, release: Release): ModelRecord {
  return { ...toRecord(model, release), is_free: false, retires_at: null, pricing: pricing({}) };
}

function isEnabled(model: StoredModel, route: StoredRoute, { adapters, nowMs }: Release): boolean {
  const spoken = adapters.get(route.provider);
  if (spoken === undefined || retirement(route) <= nowMs) return false;
  if (model.model_type !== 'text') return true;
  const talks = model.supports.includes('completions_api');
  return spoken.includes(route.dialect) && (!talks || TEXT_DIALECTS.has(route.dialect));
}

function retirement({ retires_at: day }: StoredRoute): number {
  return day === null ? Infinity : Date.parse(`${day}T00:00:00Z`);
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
    ...(route.regions.length === 0 ? {} : { regions: route.regions }),
    ...(route.zero_retention === null ? {} : { zeroRetention: route.zero_retention }),
    ...(route.retires_at === null ? {} : { retiresAtMs: retirement(route) }),
  };
}

/** The day on which the last route goes; null while one has no such day. */
function lastDay(routes: readonly Route[]): string | null {
  const last = Math.max(...routes.map(({ retiresAtMs }) => retiresAtMs ?? Infinity));
  return last === Infinity ? null : isoDay(new Date(last));
}

/** Returns the members of the spec's model record that concern the model itself. */
function toRecord(
  model: StoredModel,
  { paths }: Release,
): Omit<ModelRecord, 'is_free' | 'retires_at' | 'pricing'> {
  return {
    id: model.id,
    name: model.name,
    description: model.description ?? describe(model),
    brand: model.brand,
    model_type: model.model_type,
    context_length: model.context_length,
    max_output_tokens: model.max_output_tokens,
    input_modalities: model.input_modalities,
    output_modalities: model.output_modalities,
    ...supportsFlags(model.supports, paths),
    is_composite: false,
    composite_models: [],
    successor: model.successor,
  };
}

/** A price record as reads show it: what is not billed is null. */
export function pricing(price: PriceRecord): PriceRecord {
  const { is_free: _isFree, pricing_unit: unit, windows: _windows, ...rates } = price;
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

import type { ModelRecord } from '../catalogue/catalogue-snapshot.js';
import type { PriceMatrixRow, PriceRecord } from '../catalogue/price-record.js';

/** Rates after a discount. */
interface DiscountedPrice extends Omit<PriceRecord, 'price_matrix'> {
  price_matrix?: readonly PriceMatrixRow[] | null;
}

/** A price as its reader pays it. */
export interface PricingView extends PriceRecord {
  /** The rates after the reader's discount; absent where there is none. */
  discounted?: DiscountedPrice;
}

/** A price of a route and the times at which it holds; null = no bound. */
export interface ScheduledPriceView {
  /** `standard` is the price outside of every window. */
  name: string;
  hours_utc: string[] | null;
  weekdays: string[] | null;
  from: string | null;
  until: string | null;
  pricing: PriceRecord;
}

interface PriceWindowView extends ScheduledPriceView {
  /** It is in force now: `pricing` shows it. */
  is_current: boolean;
}

/** Other prices of a route by hour, weekday or date. */
export interface PriceOptionView {
  /** Name of the window whose price is in force; null for the standard price, and without windows. */
  price_window: string | null;
  /** Every price, the standard one first; null without windows. */
  windows: PriceWindowView[] | null;
}

/** A model as the catalogue endpoints answer it in the newest API version; older ones lack what came later. */
export interface ModelView extends Omit<ModelRecord, 'pricing'>, PriceOptionView {
  pricing: PricingView;
  /** The caller can call it: a route has a credential of the platform, or a provider key of the caller's account. */
  is_available: boolean;
}

/** Results of a provider over the last 30 minutes. */
export interface ProviderHealth {
  /** Share of the last 30 minutes' calls that the provider did not fail, from 0 to 1; null where there was none. */
  uptime_30m: number | null;
  /** Median milliseconds to the first piece of an answer, over the same time; null where none came. */
  latency_p50_ms: number | null;
  /** Median tokens of output a second, over the same time; null where none were counted. */
  throughput_p50: number | null;
}

/** A provider's own offer of a model. */
export interface ProviderOffer extends ProviderHealth, PriceOptionView {
  /** Its slug. */
  provider: string;
  name: string;
  pricing: PricingView;
  context_length: number;
  max_output_tokens: number | null;
  regions: string[];
  zero_retention: boolean;
  /** The caller can call the model here: with a credential of the platform, or a provider key of the account. */
  is_available: boolean;
}

/** One value of a facet and how many models have it. */
interface FacetValue {
  value: string;
  count: number;
}

/** Values that the found models have, most frequent first. */
export type ModelFacets = Record<
  'brand' | 'model_type' | 'capability' | 'input_modality' | 'output_modality' | 'provider',
  FacetValue[]
>;

/** A price that a model had at a provider from a day on. */
export interface PriceStep {
  provider: string;
  effective_date: string;
  pricing: PriceRecord;
  /** Every price with its times, the standard one first; null without windows. */
  windows: ScheduledPriceView[] | null;
  created_at: string;
}

/** A model in the shape that SDKs of OpenAI read, with the record's own fields beside it. */
export interface OpenAiModel extends ModelView {
  object: 'model';
  /** Seconds since the epoch; 0 where the day is not known. */
  created: number;
  owned_by: string;
}

/** Models in the shape that SDKs of Anthropic read. */
export interface AnthropicModelList {
  data: AnthropicModelInfo[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
}

export interface AnthropicModelInfo {
  type: 'model';
  id: string;
  display_name: string;
  /** 1970-01-01 where it is not known. */
  created_at: string;
  max_input_tokens: number;
  max_tokens: number | null;
  /** `deprecated` once its last day is known. */
  lifecycle: 'active' | 'deprecated';
  retires_at: string | null;
}

/** A brand or provider with a logo that can be shown as it is. */
export interface NamedLogo {
  slug: string;
  name: string;
  /** An SVG. */
  logo: string;
}

/** A price is a decimal string `\d{1,9}(\.\d{1,12})?`; null or absent is "no rate of its own", "0" is free. */
export type RateText = string | null;

export type PricingUnit =
  | 'per_1m_tokens'
  | 'per_image'
  | 'per_video'
  | 'per_second'
  | 'per_minute'
  | 'per_1m_characters'
  | 'per_1k_searches'
  | 'per_request';

export type ContextValue = string | number | boolean;

/** Size, quality, resolution, duration, has_audio and so on of the result, else as requested. */
export type PriceContext = Readonly<Record<string, ContextValue | null | undefined>>;

/** A scalar equals (strings in lower case), a list means one of, a range is inclusive. */
export type Condition =
  ContextValue | readonly ContextValue[] | { readonly min?: string | number; readonly max?: string | number };

/** One row of a price matrix. Exactly one of the two prices is set; the first row that holds is the price. */
export interface MatrixRow {
  readonly when: Readonly<Record<string, Condition>>;
  readonly usd_per_unit?: RateText;
  readonly usd_per_second?: RateText;
}

/** The money fields of a price record, in the order the catalogue shows them. */
export const RATE_FIELDS = [
  'prompt_usd_per_1m',
  'completion_usd_per_1m',
  'input_usd_per_unit',
  'output_usd_per_unit',
  'cache_read_input_usd_per_1m',
  'cache_write_input_usd_per_1m',
  'cache_write_1h_input_usd_per_1m',
  'long_context_prompt_usd_per_1m',
  'long_context_completion_usd_per_1m',
  'batch_prompt_usd_per_1m',
  'batch_completion_usd_per_1m',
  'flex_prompt_usd_per_1m',
  'flex_completion_usd_per_1m',
  'audio_input_usd_per_1m',
  'audio_output_usd_per_1m',
  'image_input_usd_per_1m',
  'image_output_usd_per_1m',
  'image_usd_per_unit',
  'video_usd_per_second',
  'audio_usd_per_minute',
  'characters_usd_per_1m',
  'search_usd_per_1k',
  'request_usd',
] as const;

export type RateField = (typeof RATE_FIELDS)[number];

/** Every rate of a record by its field's name. */
export type Rates = { readonly [F in RateField]?: RateText };

/**
 * The price of one route: one provider serving one model. The caller keeps one frozen object per route and
 * snapshot, because what is compiled from it is cached by identity.
 */
export interface PriceRecord extends Rates {
  /** Names the unit of input_usd_per_unit (sent) and output_usd_per_unit (delivered). */
  readonly pricing_unit?: PricingUnit | null;
  /** All input, cache included; a prompt above it, not equal to it, takes the long context twins. */
  readonly long_context_threshold_tokens?: number | null;
  /** USD per 1,000 calls of a tool the provider runs; a name not listed costs 0. */
  readonly tool_pricing?: Readonly<Record<string, string>> | null;
  readonly price_matrix?: readonly MatrixRow[] | null;
  /** Seconds are rounded up to steps of it: null = 1, 0 = exact. */
  readonly billing_increment_seconds?: string | number | null;
  /** The least number of seconds a unit with any seconds bills: null = 0. */
  readonly billing_minimum_seconds?: string | number | null;
  /** From the model: every line costs 0. */
  readonly is_free?: boolean;
  readonly effective_date?: string | null;
  /** Shown by the catalogue only; what applies to a request is an argument of `price`. */
  readonly discount_pct?: string | null;
}

/** A record with every rate present: what the model does not bill is null, not absent. */
export function withNulls(record: PriceRecord): PriceRecord & Required<Rates> {
  const absent = Object.fromEntries(RATE_FIELDS.map((field) => [field, null])) as Record<RateField, null>;
  return { ...absent, ...record };
}

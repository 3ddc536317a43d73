/** USD as a decimal string, for example "0.15". Never a JSON number. */
export type Money = string;

/** One row of a price matrix: the first row all of whose conditions hold applies. */
export interface PriceMatrixRow {
  /** A scalar equals, a list means one of, {min, max} is inclusive; {} always holds. */
  when: Record<
    string,
    string | number | boolean | (string | number | boolean)[] | { min?: string; max?: string }
  >;
  usd_per_unit?: Money;
  usd_per_second?: Money;
}

/** A price that holds at some hours, on some weekdays or between two instants. */
export interface PriceWindow {
  name: string;
  /** `HH:MM-HH:MM`, half open; one that ends at or before its beginning runs past midnight. Absent = all day. */
  hours_utc?: string[] | null;
  /** `mon` to `sun`, days of UTC on which the hours begin. Absent = all. */
  weekdays?: string[] | null;
  /** First instant, ISO 8601 with offset; absent = no bound. */
  from?: string | null;
  /** First instant after it; absent = no bound. */
  until?: string | null;
  /** A whole price: nothing is taken from the record around it but `pricing_unit` and `is_free`. */
  prices: PriceRecord;
}

/**
 * Price of one route. A dimension that is null (or absent) is not billed apart:
 * those tokens bill at the wider class's rate. Rates are USD per the unit in the name.
 */
export interface PriceRecord {
  is_free?: boolean;
  pricing_unit?: string | null;
  prompt_usd_per_1m?: Money | null;
  completion_usd_per_1m?: Money | null;
  input_usd_per_unit?: Money | null;
  output_usd_per_unit?: Money | null;
  cache_read_input_usd_per_1m?: Money | null;
  cache_write_input_usd_per_1m?: Money | null;
  cache_write_1h_input_usd_per_1m?: Money | null;
  long_context_threshold_tokens?: number | null;
  long_context_prompt_usd_per_1m?: Money | null;
  long_context_completion_usd_per_1m?: Money | null;
  batch_prompt_usd_per_1m?: Money | null;
  batch_completion_usd_per_1m?: Money | null;
  flex_prompt_usd_per_1m?: Money | null;
  flex_completion_usd_per_1m?: Money | null;
  audio_input_usd_per_1m?: Money | null;
  audio_output_usd_per_1m?: Money | null;
  image_input_usd_per_1m?: Money | null;
  image_output_usd_per_1m?: Money | null;
  image_usd_per_unit?: Money | null;
  video_usd_per_second?: Money | null;
  audio_usd_per_minute?: Money | null;
  characters_usd_per_1m?: Money | null;
  search_usd_per_1k?: Money | null;
  request_usd?: Money | null;
  billing_increment_seconds?: string | null;
  billing_minimum_seconds?: string | null;
  tool_pricing?: Record<string, Money> | null;
  price_matrix?: PriceMatrixRow[] | null;
  effective_date?: string | null;
  /** Other prices by hour, weekday or date; the first that holds is in force in place of this record. */
  windows?: PriceWindow[] | null;
  discount_pct?: string | null;
}

/** Counts of what one unit used. Absent = 0. */
export interface UnitUsage {
  /** All input, what was read from and written to the provider's cache included. */
  prompt_tokens?: number;
  /** Part of prompt_tokens that was read from the provider's cache. */
  cached_tokens?: number;
  /** Part of prompt_tokens that was written to the provider's cache. */
  cache_write_tokens?: number;
  /** Part of cache_write_tokens that stays for an hour. */
  cache_write_1h_tokens?: number;
  /** Part of prompt_tokens that is sound. */
  audio_input_tokens?: number;
  /** Part of prompt_tokens that is pictures. */
  image_input_tokens?: number;
  cached_audio_tokens?: number;
  cached_image_tokens?: number;
  /** All output. */
  completion_tokens?: number;
  /** Part of completion_tokens that is reasoning. */
  reasoning_tokens?: number;
  /** Part of completion_tokens that is sound. */
  audio_output_tokens?: number;
  /** Part of completion_tokens that is pictures. */
  image_output_tokens?: number;
  accepted_prediction_tokens?: number;
  rejected_prediction_tokens?: number;
  requests?: number;
  images?: number;
  input_images?: number;
  videos?: number;
  /** Decimal string. */
  video_seconds?: string;
  /** Decimal string. */
  input_video_seconds?: string;
  /** Seconds that were transcribed or spoken. Decimal string. */
  audio_seconds?: string;
  characters?: number;
  searches?: number;
  /** Calls of tools that the provider runs, by the tool. */
  tool_calls?: Record<string, number>;
  /** Counters of the provider that this release does not know, by their names: they cost nothing. */
  unpriced_counters?: Record<string, number>;
}

export type PriceTier = 'default' | 'flex' | 'batch';

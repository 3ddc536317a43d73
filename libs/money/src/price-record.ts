import type { PriceMatrixRow, PriceRecord } from '@gateway/contracts';

/** A price is a decimal string `\d{1,9}(\.\d{1,12})?`; null or absent is "no rate of its own", "0" is free. */
export type RateText = string | null;

/** The unit of input_usd_per_unit (sent) and output_usd_per_unit (delivered). */
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
export type Condition = PriceMatrixRow['when'][string];

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
export type Rates = Pick<PriceRecord, RateField>;

/** A record with every rate present: what the model does not bill is null, not absent. */
export function withNulls(record: PriceRecord): PriceRecord & Required<Rates> {
  const absent = Object.fromEntries(RATE_FIELDS.map((field) => [field, null])) as Record<RateField, null>;
  return { ...absent, ...record };
}

/** A fault of a record, and its place: the path of the field inside the record. */
export interface PriceFault {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

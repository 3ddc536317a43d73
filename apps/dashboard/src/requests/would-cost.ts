import type { Schemas } from '../api/schemas.js';
import type { Lookup } from './requests.queries.js';

type Pricing = Schemas['PricingView'];
type Billed = Pick<Lookup, 'price_lines' | 'prompt_tokens' | 'completion_tokens'>;
type Rates = Pricing & Record<string, unknown>;

/** A fraction of whole numbers: money never touches a float. */
interface Fraction {
  n: bigint;
  d: bigint;
}

const PER_TOKENS = '1M tokens';
/** Unit of a price list that bills tokens alone. */
const TOKEN_UNIT = 'per_1m_tokens';
const TOKENS = 1_000_000n;
/** Decimals of an amount. */
const DECIMALS = 12;
const NONE: Fraction = { n: 0n, d: 1n };

/** Rates of a class of tokens, the first that is set; `prompt` and `completion` scale those of long prompts. */
const CLASSES: Readonly<Record<string, { side: 'prompt' | 'completion'; fields: readonly string[] }>> = {
  fresh: input('prompt'),
  cached: input('cache_read_input', 'prompt'),
  cache_write: input('cache_write_input', 'prompt'),
  cache_write_1h: input('cache_write_1h_input', 'cache_write_input', 'prompt'),
  audio_input: input('audio_input', 'prompt'),
  image_input: input('image_input', 'prompt'),
  completion: output('completion'),
  audio_output: output('audio_output', 'completion'),
  image_output: output('image_output', 'completion'),
};

/**
 * Returns the cost of the tokens of a request at another price, as a decimal string of 12 decimals at most. Null where
 * the two cannot be compared: something else than tokens was billed or would be, or a class had no rate and is not known.
 */
export function wouldCost(request: Billed, offered: Pricing): string | null {
  if (!isBilledByToken(request)) return null;
  const lines = request.price_lines ?? [];
  const pricing: Rates = { ...offered, ...offered.discounted };
  if (pricing.is_free) return '0';
  if (!isByToken(pricing)) return null;
  const threshold = pricing.long_context_threshold_tokens ?? Number.POSITIVE_INFINITY;
  const isLong = request.prompt_tokens > threshold;
  const cost = lines
    .map(({ line, quantity }) => times(rateOf(pricing, line, isLong), { n: BigInt(quantity), d: TOKENS }))
    .reduce(plus, NONE);
  return decimalOf(cost);
}

/** True if the bill names every token, and nothing else: only such a request can be put at another price. */
export function isBilledByToken(request: Billed): boolean {
  const lines = request.price_lines ?? [];
  if (lines.some(({ line, unit }) => unit !== PER_TOKENS || !Object.hasOwn(CLASSES, line))) return false;
  const billed = (side: string): bigint =>
    lines
      .filter(({ line }) => CLASSES[line].side === side)
      .reduce((sum, { quantity }) => sum + BigInt(quantity), 0n);
  if (lines.length === 0 || billed('prompt') !== BigInt(request.prompt_tokens)) return false;
  return billed('completion') === BigInt(request.completion_tokens);
}

function input(...fields: string[]) {
  return { side: 'prompt', fields } as const;
}

function output(...fields: string[]) {
  return { side: 'completion', fields } as const;
}

/** True if a text request costs tokens and nothing else. */
function isByToken({
  prompt_usd_per_1m: prompt,
  completion_usd_per_1m: completion,
  ...rest
}: Rates): boolean {
  const isSet = (rate: unknown): boolean => rate !== null && rate !== undefined;
  const isOfTokens = (rest.pricing_unit ?? TOKEN_UNIT) === TOKEN_UNIT;
  return (isSet(prompt) || isSet(completion)) && !isSet(rest.request_usd) && isOfTokens;
}

function rateOf(pricing: Rates, name: string, isLong: boolean): Fraction {
  const { side, fields } = CLASSES[name];
  const rate = fields.map((field) => fractionOf(pricing[`${field}_usd_per_1m`])).find((one) => one !== null);
  const long = isLong ? fractionOf(pricing[`long_context_${side}_usd_per_1m`]) : null;
  const base = fractionOf(pricing[`${side}_usd_per_1m`]);
  if (rate === undefined) return NONE;
  if (long === null || base === null || base.n === 0n) return rate;
  return times(times(rate, long), { n: base.d, d: base.n });
}

function fractionOf(decimal: unknown): Fraction | null {
  if (typeof decimal !== 'string') return null;
  const [whole, fraction = ''] = decimal.split('.');
  return { n: BigInt(whole + fraction), d: 10n ** BigInt(fraction.length) };
}

function times(a: Fraction, b: Fraction): Fraction {
  return { n: a.n * b.n, d: a.d * b.d };
}

function plus(a: Fraction, b: Fraction): Fraction {
  return { n: a.n * b.d + b.n * a.d, d: a.d * b.d };
}

/** Returns the amount rounded half up, as the bill is. */
function decimalOf({ n, d }: Fraction): string {
  const scaled = (2n * n * 10n ** BigInt(DECIMALS) + d) / (2n * d);
  const digits = scaled.toString().padStart(DECIMALS + 1, '0');
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`.replace(/\.?0+$/, '');
}

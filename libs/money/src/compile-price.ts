import type { PriceMatrixRow, PriceRecord, PriceTier } from '@gateway/contracts';
import { ONE, ZERO, divide, exactText, fraction, fromDecimal, multiply } from './exact.js';
import type { Exact } from './exact.js';
import type { PricingUnit, RateField } from './price-record.js';
import { secondsOf } from './seconds.js';
import type { TokenClass } from './unit-usage.js';

/** The price of one class: the rate in its field's unit, that rate as text, and the price of a single piece. */
export interface Rate {
  readonly rate: Exact;
  readonly text: string;
  readonly each: Exact;
}

export type TokenRates = Readonly<Record<TokenClass, Rate>>;

export interface CompiledRow {
  readonly when: PriceMatrixRow['when'];
  readonly perUnit: Rate | null;
  readonly perSecond: Rate | null;
}

const RATE = /^\d{1,9}(\.\d{1,12})?$/;
const EACH = ONE;
const PER_THOUSAND = fraction(1n, 1_000n);
const PER_MILLION = fraction(1n, 1_000_000n);
/** A price per minute bills seconds. */
const PER_SIXTY = fraction(1n, 60n);
const FREE: Rate = { rate: ZERO, text: '0', each: ZERO };

const compiledByRecord = new WeakMap<PriceRecord, CompiledPrice>();

/** A record's rates parsed once; cached by the identity of the record, which must not change afterwards. */
export function compilePrice(record: PriceRecord): CompiledPrice {
  const known = compiledByRecord.get(record);
  if (known) return known;
  const compiled = new CompiledPrice(record);
  compiledByRecord.set(record, compiled);
  return compiled;
}

/** True if a route may stay in the plan at this tier: flex needs a flex twin, the others always do. */
export function servesTier(record: PriceRecord, tier: PriceTier): boolean {
  return tier !== 'flex' || isSet(record.flex_prompt_usd_per_1m) || isSet(record.flex_completion_usd_per_1m);
}

/** Returns which measures of speech have a price, so that an answer without them is measured. */
export function speechRates(record: PriceRecord): { tokens: boolean; seconds: boolean } {
  const compiled = compilePrice(record);
  const { isFree, audioSecond } = compiled;
  const { fresh, audio_output: spoken } = compiled.tokenRates(0, 'default');
  return {
    tokens: !isFree && [fresh, spoken].some(({ each }) => each.n !== 0n),
    seconds: !isFree && audioSecond !== null,
  };
}

/** The parsed form of a price record. A rate that is no rate throws RangeError. */
export class CompiledPrice {
  readonly isFree: boolean;
  /** Some rate is above 0: a unit may cost something. */
  readonly hasRates: boolean;
  readonly increment: Exact;
  readonly minimum: Exact;
  readonly rows: readonly CompiledRow[];
  readonly tools: ReadonlyMap<string, Rate>;
  readonly request: Rate | null;
  readonly image: Rate | null;
  readonly inputImage: Rate | null;
  readonly videoSecond: Rate | null;
  readonly video: Rate | null;
  readonly inputVideoSecond: Rate | null;
  readonly audioSecond: Rate | null;
  readonly character: Rate | null;
  readonly search: Rate | null;
  /** Something else than tokens has a rate: most prices bill tokens alone. */
  readonly billsUnits: boolean;
  private readonly threshold: number;
  private readonly tables = new Map<string, TokenRates>();

  constructor(private readonly record: PriceRecord) {
    this.isFree = record.is_free === true;
    this.hasRates = !this.isFree && hasRate(record);
    const increment = record.billing_increment_seconds;
    this.increment = increment === null || increment === undefined ? ONE : secondsOf(increment);
    this.minimum = secondsOf(record.billing_minimum_seconds);
    this.threshold = record.long_context_threshold_tokens ?? Number.POSITIVE_INFINITY;
    this.rows = (record.price_matrix ?? []).map((row) => ({
      when: row.when,
      perUnit: rateOf(row.usd_per_unit, EACH),
      perSecond: rateOf(row.usd_per_second, EACH),
    }));
    this.tools = new Map(
      Object.entries(record.tool_pricing ?? {}).map(([name, usd]) => [
        name,
        rateOf(usd, PER_THOUSAND) ?? FREE,
      ]),
    );
    this.request = rateOf(record.request_usd, EACH) ?? this.output('per_request', EACH);
    this.image = rateOf(record.image_usd_per_unit, EACH) ?? this.output('per_image', EACH);
    this.inputImage = this.input('per_image', EACH);
    this.videoSecond = rateOf(record.video_usd_per_second, EACH) ?? this.output('per_second', EACH);
    this.video = this.output('per_video', EACH);
    this.inputVideoSecond = this.input('per_second', EACH);
    this.audioSecond =
      rateOf(record.audio_usd_per_minute, PER_SIXTY) ??
      this.output('per_minute', PER_SIXTY) ??
      this.input('per_minute', PER_SIXTY);
    this.character =
      rateOf(record.characters_usd_per_1m, PER_MILLION) ?? this.input('per_1m_characters', PER_MILLION);
    this.search =
      rateOf(record.search_usd_per_1k, PER_THOUSAND) ?? this.output('per_1k_searches', PER_THOUSAND);
    const { request, image, inputImage, videoSecond, video, inputVideoSecond, audioSecond } = this;
    const units = [request, image, inputImage, videoSecond, video, inputVideoSecond, audioSecond];
    this.billsUnits =
      [...units, this.character, this.search].some((rate) => rate !== null) ||
      this.rows.length > 0 ||
      this.tools.size > 0;
  }

  /** Base rates, then long context, then the tier. A tier the route does not serve throws RangeError. */
  tokenRates(promptTokens: number, tier: PriceTier): TokenRates {
    const isLong = promptTokens > this.threshold;
    const key = isLong ? `long ${tier}` : tier;
    let table = this.tables.get(key);
    if (!table) {
      // Pricing flex at standard rates would charge more than was asked for.
      if (!servesTier(this.record, tier)) throw new RangeError('the route has no flex rates');
      table = this.scaledRates(isLong, tier);
      this.tables.set(key, table);
    }
    return table;
  }

  private scaledRates(isLong: boolean, tier: PriceTier): TokenRates {
    const input = this.sideRatio('prompt', isLong, tier);
    const output = this.sideRatio('completion', isLong, tier);
    const cached: RateField[] = ['cache_read_input_usd_per_1m', 'prompt_usd_per_1m'];
    const written: RateField[] = ['cache_write_input_usd_per_1m', 'prompt_usd_per_1m'];
    return {
      fresh: this.tokenRate(['prompt_usd_per_1m'], input),
      cached: this.tokenRate(cached, input),
      cache_write: this.tokenRate(written, input),
      cache_write_1h: this.tokenRate(['cache_write_1h_input_usd_per_1m', ...written], input),
      audio_input: this.tokenRate(['audio_input_usd_per_1m', 'prompt_usd_per_1m'], input),
      image_input: this.tokenRate(['image_input_usd_per_1m', 'prompt_usd_per_1m'], input),
      completion: this.tokenRate(['completion_usd_per_1m'], output),
      audio_output: this.tokenRate(['audio_output_usd_per_1m', 'completion_usd_per_1m'], output),
      image_output: this.tokenRate(['image_output_usd_per_1m', 'completion_usd_per_1m'], output),
    };
  }

  /** The first field that is set, scaled; no field set is 0. */
  private tokenRate(fields: readonly RateField[], ratio: Exact): Rate {
    for (const field of fields) {
      const rate = rateOf(this.record[field], PER_MILLION, ratio);
      if (rate) return rate;
    }
    return FREE;
  }

  private sideRatio(side: 'prompt' | 'completion', isLong: boolean, tier: PriceTier): Exact {
    const base = this.record[`${side}_usd_per_1m`];
    let ratio = ONE;
    if (isLong) ratio = twinRatio(this.record[`long_context_${side}_usd_per_1m`], base);
    if (tier === 'default') return ratio;
    return multiply(ratio, twinRatio(this.record[`${tier}_${side}_usd_per_1m`], base));
  }

  private output(unit: PricingUnit, per: Exact): Rate | null {
    return this.record.pricing_unit === unit ? rateOf(this.record.output_usd_per_unit, per) : null;
  }

  private input(unit: PricingUnit, per: Exact): Rate | null {
    return this.record.pricing_unit === unit ? rateOf(this.record.input_usd_per_unit, per) : null;
  }
}

/** A null twin is ratio 1, as is one whose base is null or 0, which the import refuses. */
function twinRatio(twin: string | null | undefined, base: string | null | undefined): Exact {
  if (!isSet(twin) || !isSet(base)) return ONE;
  const whole = parseRate(base);
  return whole.n === 0n ? ONE : divide(parseRate(twin), whole);
}

function rateOf(text: string | null | undefined, per: Exact, ratio: Exact = ONE): Rate | null {
  if (!isSet(text)) return null;
  const scaled = ratio === ONE ? parseRate(text) : multiply(parseRate(text), ratio);
  // In lowest terms once, so that what is printed later needs no division.
  const rate = fraction(scaled.n, 10n ** BigInt(scaled.k) * scaled.r);
  return { rate, text: exactText(rate), each: multiply(rate, per) };
}

function parseRate(text: string): Exact {
  if (!RATE.test(text)) throw new RangeError('not a rate');
  return fromDecimal(text);
}

function isSet(text: string | null | undefined): text is string {
  return text !== null && text !== undefined;
}

/** True if a member that names USD, or one of a list of them, is above 0. */
function hasRate(record: PriceRecord): boolean {
  const isRate = (name: string, value: unknown): boolean =>
    name.includes('usd') && typeof value === 'string' && /[1-9]/.test(value);
  return (
    Object.entries(record).some(([name, value]) => isRate(name, value)) ||
    (record.price_matrix ?? []).some((row) =>
      Object.entries(row).some(([name, value]) => isRate(name, value)),
    )
  );
}

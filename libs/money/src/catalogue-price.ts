import type { PriceMatrixRow, PriceRecord } from '@gateway/contracts';
import { ONE, ZERO, add, compare, exactText, fraction, fromDecimal, multiply } from './exact.js';
import type { Exact } from './exact.js';
import { chargeFactor } from './price.js';
import { RATE_FIELDS } from './price-record.js';
import type { RateText, Rates } from './price-record.js';

/** A route as the catalogue compares it. `provider` is the slug. */
export interface PricedRoute {
  readonly provider: string;
  readonly record: PriceRecord;
}

export interface DiscountedRoute extends PricedRoute {
  /** Discount of the account on this route; null is none. */
  readonly discountPct: string | null;
}

/** The catalogue's `discounted` object: every rate, tool and matrix price of one route. */
export interface DiscountedRates extends Rates {
  readonly tool_pricing?: Readonly<Record<string, string>> | null;
  readonly price_matrix?: readonly PriceMatrixRow[] | null;
}

/** The cheapest route at list: prompt + completion, then plain unit rate, then request_usd, then provider slug. */
export function cheapestRoute<T extends PricedRoute>(routes: readonly T[]): T | null {
  return routes.reduce<T | null>(
    (best, route) => (best && comparePrices(best, route) <= 0 ? best : route),
    null,
  );
}

/** Orders routes by list price, cheapest first. */
export function comparePrices(a: PricedRoute, b: PricedRoute): number {
  return compareAt(a, b, ONE, ONE);
}

/** The kind of answer by which a model's prices are compared. */
export type PricedOutput = 'text' | 'image' | 'video';

/** Tokens that stand for one image or one second of video where a model prices tokens only. */
const IMAGE_TOKENS = 1_000n;
const VIDEO_TOKENS_PER_SECOND = 300n;

/** Orders records by what such an answer costs at list, cheapest first; one that does not price it stands last. */
export function compareOutputPrices(a: PriceRecord, b: PriceRecord, output: PricedOutput): number {
  const [left, right] = [outputPrice(a, output), outputPrice(b, output)];
  if (left === null || right === null) return (left === null ? 1 : 0) - (right === null ? 1 : 0);
  return compare(left, right);
}

/** USD for a million tokens in and out, one image, or a second of video; null where the record has no such price. */
function outputPrice(record: PriceRecord, output: PricedOutput): Exact | null {
  if (record.is_free) return ZERO;
  const { prompt_usd_per_1m: prompt, completion_usd_per_1m: completion } = record;
  if (output === 'text')
    return (prompt ?? completion ?? null) === null ? null : add(amount(prompt), amount(completion));
  const last = record.price_matrix?.at(-1);
  const unit = (name: string): RateText =>
    record.pricing_unit === name ? (record.output_usd_per_unit ?? null) : null;
  const plain =
    output === 'image'
      ? (record.image_usd_per_unit ?? unit('per_image') ?? last?.usd_per_unit)
      : (record.video_usd_per_second ?? unit('per_second') ?? last?.usd_per_second);
  if (plain !== undefined && plain !== null) return fromDecimal(plain);
  const perToken = output === 'image' ? (record.image_output_usd_per_1m ?? completion) : completion;
  if (perToken === undefined || perToken === null) return null;
  const tokens = output === 'image' ? IMAGE_TOKENS : VIDEO_TOKENS_PER_SECOND;
  return multiply(fromDecimal(perToken), fraction(tokens, 1_000_000n));
}

/**
 * The route that is cheapest after the account's discounts, with its rates: one attainable price, not a mixture.
 * Null where no route has a discount.
 */
export function bestDiscounted<T extends DiscountedRoute>(
  routes: readonly T[],
): { route: T; discounted: DiscountedRates; discount_pct: string | null } | null {
  if (!routes.some((route) => hasDiscount(route))) return null;
  const route = routes.reduce((best, other) =>
    compareAt(best, other, discountFactor(best.discountPct), discountFactor(other.discountPct)) <= 0
      ? best
      : other,
  );
  return {
    route,
    discounted: discounted(route.record, route.discountPct ?? '0'),
    discount_pct: hasDiscount(route) ? route.discountPct : null,
  };
}

/** Every price of a record times (1 - pct / 100), exact; nulls stay, and fields that hold no price are left out. */
export function discounted(record: PriceRecord, pct: string): DiscountedRates {
  const factor = discountFactor(pct);
  const cut = (rate: string): string => exactText(multiply(fromDecimal(rate), factor));
  const result: { -readonly [F in keyof DiscountedRates]: DiscountedRates[F] } = {};
  for (const field of RATE_FIELDS) {
    const rate = record[field];
    if (rate !== undefined) result[field] = rate === null ? null : cut(rate);
  }
  const { tool_pricing: tools, price_matrix: rows } = record;
  if (tools) {
    result.tool_pricing = Object.fromEntries(Object.entries(tools).map(([name, usd]) => [name, cut(usd)]));
  }
  if (rows) result.price_matrix = rows.map((row) => cutRow(row, cut));
  return result;
}

function cutRow({ when, ...prices }: PriceMatrixRow, cut: (rate: string) => string): PriceMatrixRow {
  const row: PriceMatrixRow = { when };
  if (prices.usd_per_unit) row.usd_per_unit = cut(prices.usd_per_unit);
  if (prices.usd_per_second) row.usd_per_second = cut(prices.usd_per_second);
  return row;
}

function hasDiscount({ discountPct }: DiscountedRoute): boolean {
  return discountFactor(discountPct) !== ONE;
}

/** True if a rate is no higher than a limit, both as decimal text. A rate that is absent counts as 0. */
export function isAtMost(rate: RateText, limit: string): boolean {
  return compare(amount(rate), amount(limit)) <= 0;
}

function discountFactor(discountPct: string | null): Exact {
  return chargeFactor({ discountPct, byok: { served: false, feePct: '0' } });
}

function compareAt(a: PricedRoute, b: PricedRoute, factorA: Exact, factorB: Exact): number {
  const keysA = priceKeys(a.record);
  const keysB = priceKeys(b.record);
  for (const [index, key] of keysA.entries()) {
    const order = compare(multiply(key, factorA), multiply(keysB[index], factorB));
    if (order !== 0) return order;
  }
  return a.provider < b.provider ? -1 : a.provider > b.provider ? 1 : 0;
}

/** Prompt + completion, plain unit rate, request. What is null counts 0, and so does all of a free record. */
function priceKeys(record: PriceRecord): Exact[] {
  if (record.is_free) return [ZERO, ZERO, ZERO];
  const tokens = add(amount(record.prompt_usd_per_1m), amount(record.completion_usd_per_1m));
  return [tokens, amount(plainUnitRate(record)), amount(record.request_usd)];
}

function plainUnitRate(record: PriceRecord): RateText {
  const hasUnit = record.pricing_unit !== 'per_1m_tokens';
  return (
    record.image_usd_per_unit ??
    record.video_usd_per_second ??
    record.audio_usd_per_minute ??
    record.characters_usd_per_1m ??
    record.search_usd_per_1k ??
    (hasUnit ? (record.output_usd_per_unit ?? record.input_usd_per_unit) : null) ??
    null
  );
}

function amount(rate: RateText | undefined): Exact {
  return rate === null || rate === undefined ? ZERO : fromDecimal(rate);
}

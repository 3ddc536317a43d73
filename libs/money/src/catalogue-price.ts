import { ONE, ZERO, add, compare, exactText, fromDecimal, multiply } from './exact.js';
import type { Exact } from './exact.js';
import { chargeFactor } from './price.js';
import { RATE_FIELDS } from './price-record.js';
import type { MatrixRow, PriceRecord, RateText, Rates } from './price-record.js';

/** A route as the catalogue compares it. `provider` is the slug. */
export interface PricedRoute {
  readonly provider: string;
  readonly record: PriceRecord;
}

export interface DiscountedRoute extends PricedRoute {
  /** Of the account on this route; null is none. */
  readonly discountPct: string | null;
}

/** The catalogue's `discounted` object: every rate, tool and matrix price of one route. */
export interface DiscountedRates extends Rates {
  readonly tool_pricing?: Readonly<Record<string, string>> | null;
  readonly price_matrix?: readonly MatrixRow[] | null;
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
  const cut = <T extends RateText | undefined>(rate: T): T | string =>
    typeof rate === 'string' ? exactText(multiply(fromDecimal(rate), factor)) : rate;
  const rates = RATE_FIELDS.filter((field) => record[field] !== undefined).map((field) => [
    field,
    cut(record[field]),
  ]);
  const { tool_pricing: tools, price_matrix: rows } = record;
  return {
    ...Object.fromEntries(rates),
    ...(tools && {
      tool_pricing: Object.fromEntries(Object.entries(tools).map(([name, usd]) => [name, cut(usd)])),
    }),
    ...(rows && { price_matrix: rows.map((row) => cutRow(row, cut)) }),
  };
}

function cutRow(row: MatrixRow, cut: (rate: RateText) => RateText): MatrixRow {
  const { usd_per_unit: perUnit, usd_per_second: perSecond } = row;
  return {
    ...row,
    ...(perUnit !== undefined && { usd_per_unit: cut(perUnit) }),
    ...(perSecond !== undefined && { usd_per_second: cut(perSecond) }),
  };
}

function hasDiscount({ discountPct }: DiscountedRoute): boolean {
  return discountFactor(discountPct) !== ONE;
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

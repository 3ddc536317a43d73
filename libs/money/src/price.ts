import type { PriceRecord, PriceTier, UnitUsage } from '@gateway/contracts';
import { billedItems } from './billed-items.js';
import type { BilledItem } from './billed-items.js';
import { compilePrice } from './compile-price.js';
import { ONE, ZERO, add, exactText, fromDecimal, moneyText, multiply, pow10 } from './exact.js';
import type { Exact } from './exact.js';
import type { PriceContext } from './price-record.js';

/** Set where the caller's own provider key served: the deployment's fee, 0 to 100 per cent. */
interface Byok {
  readonly served: boolean;
  readonly feePct: string;
}

export interface PriceTerms {
  readonly tier: PriceTier;
  /** The account's discount on this route, a decimal string 0 to 100; null is none. */
  readonly discountPct: string | null;
  readonly byok: Byok;
}

export interface PriceInput extends PriceTerms {
  readonly usage: UnitUsage;
  readonly record: PriceRecord;
  readonly context: PriceContext;
}

/** One line of a bill. All numbers are exact decimal strings, `n/d` where the decimal does not end. */
export interface PriceLine {
  /** A token class, `request`, `image`, `input_image`, `video_second`, `video`, … or `tool:NAME`. */
  readonly class: string;
  readonly quantity: string;
  /** Rate after long context, tier and discount or fee, in the unit of its field. */
  readonly rate: string;
  /** Unrounded. */
  readonly usd: string;
}

export interface PriceResult {
  /** Rounded once, half up, to 12 decimals. */
  readonly cost_usd: string;
  /** The same sum before discount or BYOK fee. */
  readonly list_cost_usd: string;
}

const PCT = /^\d{1,3}(\.\d{1,12})?$/;

/** The price of one finished unit. Pure: the edge and the usage service agree to the last digit. */
export function price(input: PriceInput): PriceResult {
  const factor = chargeFactor(input);
  let list = ZERO;
  for (const { quantity, rate } of billedItems(compilePrice(input.record), input))
    list = add(list, multiply(quantity, rate.each));
  const listCost = moneyText(list);
  const cost = factor === ONE ? listCost : moneyText(multiply(list, factor));
  return { cost_usd: cost, list_cost_usd: listCost };
}

/**
 * Returns the lines that add up to the cost, for readers of a bill. Printing its exact numbers costs more than the
 * price. Lines of 0 are left out.
 */
export function priceLines(input: PriceInput): PriceLine[] {
  const factor = chargeFactor(input);
  if (factor.n === 0n) return [];
  return billedItems(compilePrice(input.record), input).map((item) => lineOf(item, factor));
}

/** Returns the factor of every line: the BYOK fee where the caller's key served, else 1 - discount. */
export function chargeFactor(terms: Pick<PriceTerms, 'discountPct' | 'byok'>): Exact {
  if (terms.byok.served) return percent(terms.byok.feePct);
  if (terms.discountPct === null) return ONE;
  const { n, k } = percent(terms.discountPct);
  return n === 0n ? ONE : { n: pow10(k) - n, k, r: 1n };
}

function percent(text: string): Exact {
  if (!PCT.test(text)) throw new RangeError('not a percentage');
  const { n, k } = fromDecimal(text);
  if (n > 100n * pow10(k)) throw new RangeError('a percentage above 100');
  return { n, k: k + 2, r: 1n };
}

function lineOf(item: BilledItem, factor: Exact): PriceLine {
  const isList = factor === ONE;
  const amount = multiply(item.quantity, item.rate.each);
  return {
    class: item.class,
    quantity: exactText(item.quantity),
    rate: isList ? item.rate.text : exactText(multiply(item.rate.rate, factor)),
    usd: exactText(isList ? amount : multiply(amount, factor)),
  };
}

import type { PriceRecord } from '@gateway/contracts';
import { canonicalJson } from '@gateway/json-body';

/** One rate of a price that changes. */
export interface PriceMove {
  /** null = the base. */
  window: string | null;
  /** Name of the rate; of a tool or a row of a matrix with its place behind a point. */
  field: string;
  /** null where it is not billed. */
  from: string | null;
  to: string | null;
}

const DECIMALS = 12;
const RATE = /^\d{1,9}(\.\d{1,12})?$/;

/** Returns the rates that differ, of the base and of every window. */
export function priceMoves(before: PriceRecord, after: PriceRecord): PriceMove[] {
  const [left, right] = [allRates(before), allRates(after)];
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((key) => {
    const [from, to] = [left.get(key) ?? null, right.get(key) ?? null];
    if (from !== null && to !== null && isSameRate(from, to)) return [];
    const [window, field] = key.split('|');
    return from === to ? [] : [{ window: window === '' ? null : window, field, from, to }];
  });
}

/** True if anything else than rates differs: hours of a window, conditions of a matrix, thresholds, minimums. */
export function isReshaped(before: PriceRecord, after: PriceRecord): boolean {
  return canonicalJson(shapeOf(before)) !== canonicalJson(shapeOf(after));
}

/** True if a rate moves by more than so many per cent, or from or to nothing. */
export function movesBeyond({ from, to }: PriceMove, pct: number): boolean {
  if (from === null || to === null) return true;
  const [left, right] = [scaled(from), scaled(to)];
  const distance = left > right ? left - right : right - left;
  return distance * 1_000_000n > left * BigInt(Math.round(pct * 10_000));
}

/** True if a rate above 0 becomes 0, or a rate moves by more than this factor either way. */
export function movesByFactor({ from, to }: PriceMove, factor: bigint): boolean {
  if (from === null || to === null) return false;
  const [left, right] = [scaled(from), scaled(to)];
  if (left === 0n) return false;
  return right === 0n || right > left * factor || right * factor < left;
}

function isSameRate(one: string, other: string): boolean {
  return one === other || (RATE.test(one) && RATE.test(other) && scaled(one) === scaled(other));
}

function scaled(rate: string): bigint {
  const [whole, fraction = ''] = rate.split('.');
  return BigInt(whole + fraction.padEnd(DECIMALS, '0'));
}

function allRates(price: PriceRecord): Map<string, string> {
  const rates = new Map<string, string>();
  for (const { name, prices } of [{ name: '', prices: price }, ...(price.windows ?? [])])
    for (const [field, rate] of ratesOf(prices)) rates.set(`${name}|${field}`, rate);
  return rates;
}

function* ratesOf(price: PriceRecord): Generator<[string, string]> {
  for (const [field, value] of Object.entries(price) as [string, unknown][])
    if (field.includes('usd') && typeof value === 'string') yield [field, value];
  for (const [tool, rate] of Object.entries(price.tool_pricing ?? {})) yield [`tool_pricing.${tool}`, rate];
  for (const [at, { usd_per_unit, usd_per_second }] of (price.price_matrix ?? []).entries()) {
    const rate = usd_per_unit ?? usd_per_second;
    if (rate !== undefined) yield [`price_matrix.${at}`, rate];
  }
}

function shapeOf({ windows, ...price }: PriceRecord): object {
  const { effective_date: _date, price_matrix: matrix, tool_pricing: _tools, ...members } = price;
  const others = Object.entries(members).filter(
    ([field, value]) => !field.includes('usd') && value !== null && value !== undefined,
  );
  return {
    others: Object.fromEntries(others),
    matrix: (matrix ?? []).map(({ when }) => when),
    windows: (windows ?? []).map(({ prices, ...window }) => ({ ...window, prices: shapeOf(prices) })),
  };
}

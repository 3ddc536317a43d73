import type { PriceRecord, PriceTier, UnitUsage } from '@gateway/contracts';
import { compilePrice, type CompiledPrice, type Rate } from './compile-price.js';
import {
  ONE,
  ZERO,
  add,
  exactText,
  fromDecimal,
  fromInteger,
  moneyText,
  multiply,
  pow10,
  type Exact,
} from './exact.js';
import { matchRow } from './matrix.js';
import type { PriceContext } from './price-record.js';
import { billedSeconds, secondsOf } from './seconds.js';
import { TOKEN_CLASSES, counted, tokenClasses, type TokenClass } from './unit-usage.js';

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

/** The billed quantity of one class, before discount or fee. */
interface BilledItem {
  readonly class: string;
  readonly quantity: Exact;
  readonly rate: Rate;
}

/** The usage of a unit, its tier, and the known facts of the result. */
interface BilledUnit {
  readonly usage: UnitUsage;
  readonly tier: PriceTier;
  readonly context: PriceContext;
}

/** The items of a unit that cost something, in the order of a bill: tokens, then the rest. */
function billedItems(compiled: CompiledPrice, input: BilledUnit): readonly BilledItem[] {
  if (compiled.isFree) return [];
  const items = tokenItems(compiled, input);
  return compiled.billsUnits ? items.concat(unitItems(compiled, input)) : items;
}

function tokenItems(compiled: CompiledPrice, input: BilledUnit): BilledItem[] {
  const tokens = tokenClasses(input.usage);
  const rates = compiled.tokenRates(counted(input.usage.prompt_tokens), input.tier);
  const items: BilledItem[] = [];
  for (let at = 0; at < TOKEN_CLASSES.length; at += 1) {
    const name = TOKEN_CLASSES[at];
    if (tokens[name] === 0 || rates[name].each.n === 0n) continue;
    if (compiled.billsUnits && billsByUnit(name, compiled, input.context)) continue;
    items.push({ class: name, quantity: fromInteger(tokens[name]), rate: rates[name] });
  }
  return items;
}

/** True if the class is billed by unit, and so not by token. */
export function billsByUnit(name: TokenClass, compiled: CompiledPrice, context: PriceContext): boolean {
  if (name === 'image_output') return imageRate(compiled, context) !== null;
  if (name === 'image_input') return compiled.inputImage !== null;
  return (name === 'audio_input' || name === 'audio_output') && compiled.audioSecond !== null;
}

export function unitItems(compiled: CompiledPrice, { usage, context }: BilledUnit): BilledItem[] {
  const items: BilledItem[] = [];
  const bill = (name: string, quantity: Exact, rate: Rate): void => {
    if (quantity.n !== 0n && rate.each.n !== 0n) items.push({ class: name, quantity, rate });
  };
  // Exact numbers are made of what has a rate alone: most units have tokens and nothing else that is billed.
  const count = (name: string, value: number | undefined, rate: Rate | null): void => {
    if (rate !== null && value !== undefined) bill(name, fromInteger(counted(value)), rate);
  };
  const seconds = (name: string, value: string | number | undefined, rate: Rate | null): void => {
    if (rate !== null && value !== undefined)
      bill(name, billedSeconds(secondsOf(value), compiled.increment, compiled.minimum), rate);
  };

  count('request', usage.requests, compiled.request);
  if (usage.images) count('image', usage.images, imageRate(compiled, context));
  count('input_image', usage.input_images, compiled.inputImage);
  if (usage.videos || usage.video_seconds) {
    const video = videoRate(compiled, context);
    seconds('video_second', usage.video_seconds, video.perSecond);
    count('video', usage.videos, video.perUnit);
  }
  seconds('input_video_second', usage.input_video_seconds, compiled.inputVideoSecond);
  seconds('audio_second', usage.audio_seconds, compiled.audioSecond);
  count('character', usage.characters, compiled.character);
  count('search', usage.searches, compiled.search);
  if (usage.tool_calls) {
    for (const [name, calls] of Object.entries(usage.tool_calls).sort(byName)) {
      count(`tool:${name}`, calls, compiled.tools.get(name) ?? null);
    }
  }
  return items;
}

function imageRate(compiled: CompiledPrice, context: PriceContext): Rate | null {
  const row = compiled.rows.find(({ when }) => matchRow(when, context) === 'holds');
  return row?.perUnit ?? compiled.image;
}

/** One rate at most: the matrix row's, else the plain rate by the second, else by the video. */
function videoRate(compiled: CompiledPrice, context: PriceContext): VideoRate {
  const row = compiled.rows.find(({ when }) => matchRow(when, context) === 'holds');
  return (row && rowVideoRate(row)) ?? plainVideoRate(compiled);
}

export interface VideoRate {
  readonly perSecond: Rate | null;
  readonly perUnit: Rate | null;
}

export function rowVideoRate({ perSecond, perUnit }: VideoRate): VideoRate | null {
  if (perSecond) return { perSecond, perUnit: null };
  return perUnit ? { perSecond, perUnit } : null;
}

export function plainVideoRate(compiled: CompiledPrice): VideoRate {
  return { perSecond: compiled.videoSecond, perUnit: compiled.videoSecond ? null : compiled.video };
}

function byName([a]: readonly [string, number], [b]: readonly [string, number]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

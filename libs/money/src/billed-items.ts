import type { PriceTier, UnitUsage } from '@gateway/contracts';
import type { CompiledPrice, Rate } from './compile-price.js';
import { fromInteger } from './exact.js';
import type { Exact } from './exact.js';
import { matchRow } from './matrix.js';
import type { PriceContext } from './price-record.js';
import { billedSeconds, secondsOf } from './seconds.js';
import { TOKEN_CLASSES, counted, tokenClasses } from './unit-usage.js';
import type { TokenClass } from './unit-usage.js';

/** The billed quantity of one class, before discount or fee. */
export interface BilledItem {
  readonly class: string;
  readonly quantity: Exact;
  readonly rate: Rate;
}

/** The usage of a unit, its tier, and the known facts of the result. */
export interface BilledUnit {
  readonly usage: UnitUsage;
  readonly tier: PriceTier;
  readonly context: PriceContext;
}

/** The items of a unit that cost something, in the order of a bill: tokens, then the rest. */
export function billedItems(compiled: CompiledPrice, input: BilledUnit): readonly BilledItem[] {
  if (compiled.isFree) return [];
  const items = tokenItems(compiled, input);
  return compiled.billsUnits ? items.concat(unitItems(compiled, input)) : items;
}

function tokenItems(compiled: CompiledPrice, input: BilledUnit): BilledItem[] {
  const tokens = tokenClasses(input.usage);
  const rates = compiled.tokenRates(counted(input.usage.prompt_tokens), input.tier);
  const items: BilledItem[] = [];
  for (const name of TOKEN_CLASSES) {
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

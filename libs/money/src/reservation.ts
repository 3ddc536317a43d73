import type { PriceRecord, PriceTier, UnitUsage } from '@gateway/contracts';
import {
  type PriceTerms,
  type VideoRate,
  billsByUnit,
  chargeFactor,
  plainVideoRate,
  rowVideoRate,
  unitItems,
} from './price.js';
import { compilePrice } from './compile-price.js';
import type { CompiledPrice, CompiledRow, Rate } from './compile-price.js';
import { estimateInput } from './estimate.js';
import type { InputTokens, SentInput } from './estimate.js';
import { ZERO, add, fromInteger, largest, multiply, roundTo } from './exact.js';
import type { Exact } from './exact.js';
import { matchRow } from './matrix.js';
import { pricesBetween } from './price-windows.js';
import type { PriceContext } from './price-record.js';
import { billedSeconds, secondsOf } from './seconds.js';
import { counted } from './unit-usage.js';
import type { TokenClass } from './unit-usage.js';

const NANO_DECIMALS = 9;
/** Output reserved for a model that has served too few units for a figure. */
const DEFAULT_OUTPUT_TOKENS = 1_024;
/** The same of one image that is billed by its tokens: the largest of today's models take 6,240. */
const DEFAULT_IMAGE_TOKENS = 8_192;
const P95_SAMPLES = 20;

/** One billable route of the plan. */
export interface ReservedRoute extends Pick<PriceTerms, 'discountPct' | 'byok'> {
  readonly record: PriceRecord;
  readonly maxOutputTokens: number | null;
  readonly contextLength: number | null;
  /** `p95OutputTokens` of the model's units of the last hour; null under 20 units. */
  readonly p95OutputTokens: number | null;
}

/** Units that are known when the request is admitted: what it sends, and what it asks for. */
export type BillableUnits = Pick<
  UnitUsage,
  | 'images'
  | 'input_images'
  | 'videos'
  | 'video_seconds'
  | 'input_video_seconds'
  | 'audio_seconds'
  | 'characters'
  | 'searches'
>;

export interface ReservationRequest {
  readonly routes: readonly ReservedRoute[];
  /** Instants between which an attempt may begin: of a price with windows the dearest in force then is held. */
  readonly begins?: { readonly fromMs: number; readonly untilMs: number };
  readonly tier: PriceTier;
  readonly input: SentInput;
  /** Bound set by the caller; null leaves it to the model. */
  readonly maxTokens: number | null;
  /** `n`, 1 if absent. */
  readonly choices?: number;
  /** The request asks to write caches: input may bill at the dearest cache write rate. */
  readonly writesCache?: boolean;
  readonly wantsAudio?: boolean;
  readonly wantsImages?: boolean;
  readonly billableUnits?: BillableUnits;
  /** Context as requested; an absent member may still become anything. */
  readonly context: PriceContext;
}

/** Integer nano-USD, rounded up. */
export interface Reservation {
  readonly worst_case_nano: bigint;
  readonly reserved_nano: bigint;
}

/**
 * Returns the amount to hold while the request runs, the dearest of its billable routes, 0 without one; and the input
 * it is based on.
 */
export function reservation(request: ReservationRequest): Reservation & { inputTokens: number } {
  const input = estimateInput(request.input);
  let worst = 0n;
  let reserved = 0n;
  const { fromMs = null, untilMs = null } = request.begins ?? {};
  for (const route of request.routes) {
    for (const record of pricesBetween(route.record, fromMs, untilMs)) {
      const ofRoute = routeReservation(route, record, request, input);
      if (ofRoute.worst_case_nano > worst) worst = ofRoute.worst_case_nano;
      if (ofRoute.reserved_nano > reserved) reserved = ofRoute.reserved_nano;
    }
  }
  return { worst_case_nano: worst, reserved_nano: reserved, inputTokens: input.total };
}

/** The 95th percentile by nearest rank; null under 20 samples. */
export function p95OutputTokens(samples: readonly number[]): number | null {
  if (samples.length < P95_SAMPLES) return null;
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.ceil((sorted.length * 95) / 100) - 1];
}

function routeReservation(
  route: ReservedRoute,
  record: PriceRecord,
  request: ReservationRequest,
  input: InputTokens,
): Reservation {
  const factor = chargeFactor(route);
  const compiled = compilePrice(record);
  if (compiled.isFree || factor.n === 0n) return { worst_case_nano: 0n, reserved_nano: 0n };

  const rates = compiled.tokenRates(input.total, request.tier);
  const isTokenBilled = (one: TokenClass): boolean =>
    !(compiled.billsUnits && billsByUnit(one, compiled, request.context));
  const inputRate = (one: TokenClass): Exact =>
    request.writesCache
      ? largest([rates[one].each, rates.cache_write.each, rates.cache_write_1h.each])
      : rates[one].each;
  let fixed = times(input.text, inputRate('fresh'));
  if (compiled.billsUnits) fixed = add(fixed, billableUnitsCost(compiled, request));
  if (input.audio > 0 && isTokenBilled('audio_input'))
    fixed = add(fixed, times(input.audio, inputRate('audio_input')));
  if (input.image > 0 && isTokenBilled('image_input'))
    fixed = add(fixed, times(input.image, inputRate('image_input')));

  const ofOutput = (one: TokenClass): Exact => (isTokenBilled(one) ? rates[one].each : ZERO);
  // Text alone, nearly always: no list of one is made for it.
  const isText = !request.wantsAudio && !request.wantsImages;
  const outputRate = isText ? ofOutput('completion') : largest(outputClasses(request).map(ofOutput));
  const choices = Math.max(1, counted(request.choices));
  // Of one choice, where the model has no history here.
  const usual = request.wantsImages ? DEFAULT_IMAGE_TOKENS : DEFAULT_OUTPUT_TOKENS;
  const maxOut = maxOutput(route, request.maxTokens, input.total, usual);
  const likely = Math.min(maxOut, route.p95OutputTokens ?? usual);
  // At least 1: who asks for no money is let in whatever the cap and the balance say.
  const least = compiled.hasRates ? 1n : 0n;
  const nano = (tokens: number): bigint => {
    const exact = multiply(add(fixed, times(tokens * choices, outputRate)), factor);
    const rounded = roundTo(exact, NANO_DECIMALS, 'up');
    return rounded > least ? rounded : least;
  };
  const worst = nano(maxOut);
  return { worst_case_nano: worst, reserved_nano: likely === maxOut ? worst : nano(likely) };
}

function outputClasses({ wantsAudio, wantsImages }: ReservationRequest): TokenClass[] {
  const classes: TokenClass[] = ['completion'];
  if (wantsAudio) classes.push('audio_output');
  if (wantsImages) classes.push('image_output');
  return classes;
}

function maxOutput(
  route: ReservedRoute,
  maxTokens: number | null,
  inputTokens: number,
  usual: number,
): number {
  const rest = route.contextLength === null ? usual : route.contextLength - inputTokens;
  return counted(maxTokens ?? route.maxOutputTokens ?? rest);
}

/** One request and the units asked for, pictures and video at the dearest rate that is still possible. */
function billableUnitsCost(
  compiled: CompiledPrice,
  { billableUnits = {}, tier, context }: ReservationRequest,
): Exact {
  const { images, videos, video_seconds: videoSeconds, ...plain } = billableUnits;
  let sum = ZERO;
  for (const item of unitItems(compiled, { usage: { ...plain, requests: 1 }, tier, context })) {
    sum = add(sum, multiply(item.quantity, item.rate.each));
  }
  if (images) {
    const rates = possible(compiled, context, (row) => row.perUnit ?? compiled.image, compiled.image);
    sum = add(sum, times(images, largest(rates.map(eachOf))));
  }
  if (videos || videoSeconds) {
    const seconds = billedSeconds(secondsOf(videoSeconds), compiled.increment, compiled.minimum);
    const cost = (rate: VideoRate): Exact =>
      rate.perSecond ? multiply(seconds, rate.perSecond.each) : times(videos, eachOf(rate.perUnit));
    const plainRate = plainVideoRate(compiled);
    const rates = possible(compiled, context, (row) => rowVideoRate(row) ?? plainRate, plainRate);
    sum = add(sum, largest(rates.map(cost)));
  }
  return sum;
}

/** Returns the rates of rows that may be the first to hold, and the plain rate unless a row is certain. */
function possible<T>(
  compiled: CompiledPrice,
  context: PriceContext,
  ofRow: (row: CompiledRow) => T,
  plain: T,
): T[] {
  const found: T[] = [];
  for (const row of compiled.rows) {
    const match = matchRow(row.when, context);
    if (match !== 'fails') found.push(ofRow(row));
    if (match === 'holds') return found;
  }
  return [...found, plain];
}

function eachOf(rate: Rate | null): Exact {
  return rate?.each ?? ZERO;
}

function times(count: number | undefined, each: Exact): Exact {
  return multiply(fromInteger(counted(count)), each);
}

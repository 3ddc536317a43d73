import type { PriceMatrixRow, PriceRecord, PriceWindow } from '@gateway/contracts';
import { isObject } from '@gateway/json-body';
import { edges, hourRange, openTest, WEEKDAYS } from './price-windows.js';
import { RATE_FIELDS } from './price-record.js';
import type { PriceFault, RateField } from './price-record.js';

export type PricedModelType = 'text' | 'embedding' | 'image' | 'audio' | 'tts' | 'stt' | 'video' | 'search';

const RATE = /^\d{1,9}(\.\d{1,12})?$/;
const SECONDS = /^\d{1,9}(\.\d{1,12})?$/;
const ZERO_RATE = /^0+(\.0+)?$/;

/** Any one of these rates prices what a model of the type delivers; a flat request_usd does for each. */
const DELIVERED: Readonly<Record<PricedModelType, readonly RateField[]>> = {
  text: ['completion_usd_per_1m', 'search_usd_per_1k'],
  embedding: ['prompt_usd_per_1m'],
  image: ['image_usd_per_unit', 'image_output_usd_per_1m', 'completion_usd_per_1m'],
  audio: ['audio_output_usd_per_1m', 'completion_usd_per_1m', 'audio_usd_per_minute'],
  tts: ['audio_output_usd_per_1m', 'completion_usd_per_1m', 'audio_usd_per_minute', 'characters_usd_per_1m'],
  stt: ['audio_usd_per_minute', 'audio_input_usd_per_1m', 'prompt_usd_per_1m', 'completion_usd_per_1m'],
  video: ['video_usd_per_second', 'completion_usd_per_1m'],
  search: ['search_usd_per_1k'],
};

/** The pricing units at which input_usd_per_unit or output_usd_per_unit does the same. */
const UNITS: Readonly<
  Record<PricedModelType, { readonly input: readonly string[]; readonly output: readonly string[] }>
> = {
  text: { input: [], output: ['per_1k_searches'] },
  embedding: { input: [], output: [] },
  image: { input: [], output: ['per_image'] },
  audio: { input: ['per_minute'], output: ['per_minute'] },
  tts: { input: ['per_1m_characters', 'per_minute'], output: ['per_minute'] },
  stt: { input: ['per_minute'], output: ['per_minute'] },
  video: { input: [], output: ['per_second', 'per_video'] },
  search: { input: [], output: ['per_1k_searches'] },
};

const TWINS = ['long_context', 'batch', 'flex'] as const;
const SIDES = ['prompt', 'completion'] as const;

/** Members of a record that are no rates, each with what its value has to be; null always stands for absent. */
const MEMBERS: ReadonlyMap<string, readonly [isRight: (value: unknown) => boolean, msg: string]> = new Map([
  ['is_free', [(value) => typeof value === 'boolean', 'not a boolean']],
  ['pricing_unit', [isText, 'not a text']],
  ['long_context_threshold_tokens', [isCount, 'not a number of tokens']],
  ['billing_increment_seconds', [isText, 'not a number of seconds']],
  ['billing_minimum_seconds', [isText, 'not a number of seconds']],
  ['tool_pricing', [isObject, 'not an object of rates by tool']],
  ['price_matrix', [isMatrix, 'not a list of rows, each with the object when']],
  ['effective_date', [isText, 'not a date']],
  ['windows', [Array.isArray, 'not a list of windows']],
  ['discount_pct', [isText, 'not a text']],
]);
const RATE_NAMES: ReadonlySet<string> = new Set(RATE_FIELDS);

/** All faults of a record at import, none for a good one. Each makes the import answer 422 `validation_error`. */
export function validatePriceRecord(record: PriceRecord, modelType: PricedModelType): PriceFault[] {
  const { windows } = record;
  const ofWindows = Array.isArray(windows)
    ? windowFaults(record, (prices) => recordFaults(prices, modelType))
    : [];
  return [...recordFaults(record, modelType), ...ofWindows];
}

function recordFaults(record: PriceRecord, modelType: PricedModelType): PriceFault[] {
  const shape = shapeFaults(record);
  // What has another shape is left out, so that all that is wrong with the rest is named as well.
  if (shape.length > 0) return [...shape, ...rateFaults(withoutMembers(record, shape), modelType)];
  return [
    ...rateFaults(record, modelType),
    ...(deliversAtNoRate(record, modelType)
      ? [{ loc: [], msg: `a model that is not free has no rate for what a ${modelType} model delivers` }]
      : []),
  ];
}

function withoutMembers(record: PriceRecord, faults: readonly PriceFault[]): PriceRecord {
  const names = new Set(faults.map(({ loc }) => loc[0]));
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)));
}

function rateFaults(record: PriceRecord, modelType: PricedModelType): PriceFault[] {
  const prices = [...pricesOf(record)];
  return [
    ...prices
      .filter(({ usd }) => !isRate(usd))
      .map(({ loc }) => ({ loc, msg: 'not a rate: a string of at most 9 digits and 12 decimals' })),
    ...freeFaults(record, prices),
    ...twinFaults(record),
    ...secondsFaults(record),
    ...matrixFaults(record, modelType),
  ];
}

/**
 * Returns faults of the shape: a record from outside is any object, and a misspelt rate would bill nothing silently.
 */
function shapeFaults(record: PriceRecord): PriceFault[] {
  return Object.entries(record).flatMap(([name, value]): PriceFault[] => {
    if (RATE_NAMES.has(name)) return [];
    const member = MEMBERS.get(name);
    if (member === undefined) return [{ loc: [name], msg: 'this field is not known' }];
    const [isRight, msg] = member;
    return !isSet(value) || isRight(value) ? [] : [{ loc: [name], msg }];
  });
}

interface Price {
  readonly loc: readonly (string | number)[];
  readonly usd: unknown;
}

function* pricesOf(record: PriceRecord): Generator<Price> {
  for (const field of RATE_FIELDS) if (isSet(record[field])) yield { loc: [field], usd: record[field] };
  for (const [name, usd] of Object.entries(record.tool_pricing ?? {}))
    yield { loc: ['tool_pricing', name], usd };
  for (const [index, row] of (record.price_matrix ?? []).entries()) {
    for (const field of ['usd_per_unit', 'usd_per_second'] as const) {
      if (isSet(row[field])) yield { loc: ['price_matrix', index, field], usd: row[field] };
    }
  }
}

function freeFaults(record: PriceRecord, prices: readonly Price[]): PriceFault[] {
  if (!record.is_free) return [];
  return prices
    .filter(({ usd }) => isRate(usd) && !isZero(usd))
    .map(({ loc }) => ({ loc, msg: 'a free model has a rate above 0' }));
}

function twinFaults(record: PriceRecord): PriceFault[] {
  return SIDES.flatMap((side) => {
    const base = record[`${side}_usd_per_1m`];
    if (isSet(base) && !isZero(base)) return [];
    return TWINS.map((twin) => `${twin}_${side}_usd_per_1m` as const)
      .filter((field) => isSet(record[field]))
      .map((field) => ({ loc: [field], msg: `needs ${side}_usd_per_1m above 0 beside it` }));
  });
}

function secondsFaults(record: PriceRecord): PriceFault[] {
  return (['billing_increment_seconds', 'billing_minimum_seconds'] as const)
    .filter((field) => isSet(record[field]) && !SECONDS.test(String(record[field])))
    .map((field) => ({ loc: [field], msg: 'not a number of seconds' }));
}

function matrixFaults(record: PriceRecord, modelType: PricedModelType): PriceFault[] {
  const rows = record.price_matrix ?? [];
  const faults: PriceFault[] = rows.flatMap((row, index) =>
    isSet(row.usd_per_unit) === isSet(row.usd_per_second)
      ? [{ loc: ['price_matrix', index], msg: 'needs exactly one of usd_per_unit and usd_per_second' }]
      : [],
  );
  const last = rows.at(-1);
  if (last && !holdsAlways(last) && !hasPlainRate(record, modelType)) {
    faults.push({ loc: ['price_matrix'], msg: 'needs a last row with an empty when, or the plain rate' });
  }
  return faults;
}

function holdsAlways(row: PriceMatrixRow): boolean {
  return Object.keys(row.when).length === 0;
}

function hasPlainRate(record: PriceRecord, modelType: PricedModelType): boolean {
  const unit = record.pricing_unit;
  if (modelType === 'video')
    return isSet(record.video_usd_per_second) || hasOutputUnit(record, ['per_second', 'per_video']);
  return isSet(record.image_usd_per_unit) || (unit === 'per_image' && isSet(record.output_usd_per_unit));
}

function deliversAtNoRate(record: PriceRecord, modelType: PricedModelType): boolean {
  if (record.is_free) return false;
  const rows = record.price_matrix ?? [];
  const isRated =
    isSet(record.request_usd) ||
    hasOutputUnit(record, ['per_request', ...UNITS[modelType].output]) ||
    (isSet(record.input_usd_per_unit) && UNITS[modelType].input.includes(record.pricing_unit ?? '')) ||
    DELIVERED[modelType].some((field) => isSet(record[field])) ||
    (modelType === 'image' && rows.some((row) => isSet(row.usd_per_unit))) ||
    (modelType === 'video' && rows.length > 0);
  return !isRated;
}

function hasOutputUnit(record: PriceRecord, units: readonly string[]): boolean {
  return isSet(record.output_usd_per_unit) && units.includes(record.pricing_unit ?? '');
}

function isRate(usd: unknown): usd is string {
  return typeof usd === 'string' && RATE.test(usd);
}

function isZero(usd: string): boolean {
  return ZERO_RATE.test(usd);
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) > 0;
}

function isMatrix(value: unknown): boolean {
  return Array.isArray(value) && value.every((row) => isObject(row) && isObject(row.when));
}

function isSet<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

const WINDOWS_MAX = 8;
const RANGES_MAX = 8;
const WEEK_MS = 7 * 86_400_000;
const WINDOW_NAME = /^[a-z0-9-]{1,32}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;
const WINDOW_MEMBERS: readonly string[] = ['name', 'hours_utc', 'weekdays', 'from', 'until', 'prices'];
/** Fields that a window takes from the route's price, or that no price of a window has. */
const OF_ROUTE: readonly string[] = ['pricing_unit', 'is_free', 'effective_date', 'discount_pct', 'windows'];

/** All faults of a record's windows. `ofPrices` finds those of one window's prices as of a record by itself. */
function windowFaults(record: PriceRecord, ofPrices: (prices: PriceRecord) => PriceFault[]): PriceFault[] {
  const windows: readonly unknown[] = record.windows ?? [];
  if (windows.length > WINDOWS_MAX) return [{ loc: ['windows'], msg: `more than ${WINDOWS_MAX} windows` }];
  return windows.flatMap((window, at): PriceFault[] => {
    const within = (faults: readonly PriceFault[]): PriceFault[] =>
      faults.map(({ loc, msg }) => ({ loc: ['windows', at, ...loc], msg }));
    if (!isObject(window)) return within([{ loc: [], msg: 'not a window' }]);
    const shape = [...windowShapeFaults(window)];
    if (shape.length > 0) return within(shape);
    const sound = window as unknown as PriceWindow;
    return within([
      ...placeFaults(sound, at, windows as readonly PriceWindow[]),
      ...windowPriceFaults(sound.prices, record, ofPrices),
    ]);
  });
}

function* windowShapeFaults(window: Record<string, unknown>): Generator<PriceFault> {
  for (const name of Object.keys(window))
    if (!WINDOW_MEMBERS.includes(name)) yield { loc: [name], msg: 'this field is not known' };
  const { name, hours_utc: hours, weekdays, prices } = window;
  if (typeof name !== 'string' || !WINDOW_NAME.test(name) || name === 'standard')
    yield { loc: ['name'], msg: 'not a name of lower-case letters, digits and dashes other than standard' };
  yield* listFaults('hours_utc', hours, RANGES_MAX, {
    isRight: (text) => hourRange(text) !== null,
    msg: 'not hours such as 01:00-04:00',
  });
  yield* listFaults('weekdays', weekdays, WEEKDAYS.length, {
    isRight: (text) => WEEKDAYS.includes(text),
    msg: 'not a weekday: mon, tue, wed, thu, fri, sat or sun',
  });
  for (const bound of ['from', 'until'] as const) {
    const at = window[bound];
    if (at == null || (typeof at === 'string' && INSTANT.test(at) && !Number.isNaN(Date.parse(at)))) continue;
    yield { loc: [bound], msg: 'not an instant of ISO 8601 with an offset' };
  }
  if (!isObject(prices)) yield { loc: ['prices'], msg: 'not a price record' };
}

function* listFaults(
  name: string,
  value: unknown,
  max: number,
  { isRight, msg }: { isRight: (text: string) => boolean; msg: string },
): Generator<PriceFault> {
  if (value == null) return;
  if (!Array.isArray(value) || value.length === 0 || value.length > max) {
    yield { loc: [name], msg: `not a list of 1 to ${max}` };
    return;
  }
  for (const [at, one] of (value as unknown[]).entries())
    if (typeof one !== 'string' || !isRight(one)) yield { loc: [name, at], msg };
}

function placeFaults(window: PriceWindow, at: number, windows: readonly PriceWindow[]): PriceFault[] {
  const { name, from, until } = window;
  const before = windows.slice(0, at).filter(isObject);
  if (before.some((one) => one.name === name))
    return [{ loc: ['name'], msg: 'another window has this name' }];
  if (from != null && until != null && Date.parse(from) >= Date.parse(until))
    return [{ loc: ['from'], msg: 'not before until' }];
  if (!canHold(window) || before.some(isUnbounded)) return [{ loc: [], msg: 'this window can never hold' }];
  return [];
}

function isUnbounded({ hours_utc: hours, weekdays, from, until }: PriceWindow): boolean {
  return [hours, weekdays, from, until].every((bound) => bound == null);
}

/** True if some instant is in the window. Every window without dates holds at some time of a week. */
function canHold(window: PriceWindow): boolean {
  const { from, until } = window;
  if (from == null || until == null) return true;
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(until)];
  if (untilMs - fromMs >= WEEK_MS) return true;
  const begins = [fromMs, ...edges({ windows: [window] }, fromMs, untilMs)];
  return begins.some(openTest(window));
}

/** A window's prices are a whole record: a rate that is left out would move by itself with its wider class. */
function windowPriceFaults(
  prices: PriceRecord,
  base: PriceRecord,
  ofPrices: (prices: PriceRecord) => PriceFault[],
): PriceFault[] {
  const { is_free, pricing_unit } = base;
  const own = Object.keys(prices).filter((name) => OF_ROUTE.includes(name));
  const billed = (Object.keys(base) as (keyof PriceRecord)[]).filter(
    (name) => base[name] != null && !OF_ROUTE.includes(name),
  );
  const found: PriceFault[] = [
    ...own.map((name) => ({ loc: [name], msg: 'this field is the route’s and stands beside windows' })),
    ...billed
      .filter((name) => prices[name] === undefined)
      .map((name) => ({ loc: [name], msg: 'the base bills it: say its rate, or null for not billed' })),
  ];
  const whole = own.length > 0 ? [] : ofPrices({ ...prices, is_free, pricing_unit });
  return [...found, ...whole].map(({ loc, msg }) => ({ loc: ['prices', ...loc], msg }));
}

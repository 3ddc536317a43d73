import type { PriceRecord, PriceWindow } from '@gateway/contracts';
import { edges, holds, hourRange, WEEKDAYS } from './price-windows.js';
import type { PriceFault } from './price-fault.js';

const WINDOWS_MAX = 8;
const RANGES_MAX = 8;
const WEEK_MS = 7 * 86_400_000;
const NAME = /^[a-z0-9-]{1,32}$/;
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;
const MEMBERS: readonly string[] = ['name', 'hours_utc', 'weekdays', 'from', 'until', 'prices'];
/** Fields that a window takes from the route's price, or that no price of a window has. */
const OF_ROUTE: readonly string[] = ['pricing_unit', 'is_free', 'effective_date', 'discount_pct', 'windows'];

/** All faults of a record's windows. `ofPrices` finds those of one window's prices as of a record by itself. */
export function windowFaults(
  record: PriceRecord,
  ofPrices: (prices: PriceRecord) => PriceFault[],
): PriceFault[] {
  const windows: readonly unknown[] = record.windows ?? [];
  if (windows.length > WINDOWS_MAX) return [{ loc: ['windows'], msg: `more than ${WINDOWS_MAX} windows` }];
  return windows.flatMap((window, at): PriceFault[] => {
    const within = (faults: readonly PriceFault[]): PriceFault[] =>
      faults.map(({ loc, msg }) => ({ loc: ['windows', at, ...loc], msg }));
    if (!isObject(window)) return within([{ loc: [], msg: 'not a window' }]);
    const shape = [...shapeFaults(window)];
    if (shape.length > 0) return within(shape);
    const sound = window as unknown as PriceWindow;
    return within([
      ...placeFaults(sound, at, windows as readonly PriceWindow[]),
      ...priceFaults(sound.prices, record, ofPrices),
    ]);
  });
}

function* shapeFaults(window: Record<string, unknown>): Generator<PriceFault> {
  for (const name of Object.keys(window))
    if (!MEMBERS.includes(name)) yield { loc: [name], msg: 'this field is not known' };
  const { name, hours_utc: hours, weekdays, prices } = window;
  if (typeof name !== 'string' || !NAME.test(name) || name === 'standard')
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
  if (!canHold(window) || before.some(holdsAlways)) return [{ loc: [], msg: 'this window can never hold' }];
  return [];
}

function holdsAlways({ hours_utc: hours, weekdays, from, until }: PriceWindow): boolean {
  return [hours, weekdays, from, until].every((bound) => bound == null);
}

/** True if some instant is in the window. Every window without dates holds at some time of a week. */
function canHold(window: PriceWindow): boolean {
  const { from, until } = window;
  if (from == null || until == null) return true;
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(until)];
  if (untilMs - fromMs >= WEEK_MS) return true;
  const begins = [fromMs, ...edges({ windows: [window] }, fromMs, untilMs)];
  return begins.some((atMs) => holds(window, atMs));
}

/** A window's prices are a whole record: a rate that is left out would move by itself with its wider class. */
function priceFaults(
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

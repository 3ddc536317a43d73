import type { PriceRecord, PriceWindow } from '@gateway/contracts';

/** A price of a route that holds at some instant. */
export interface PriceInForce {
  /** The price without windows: one object for each window of a record, so that what is compiled of it is kept. */
  readonly record: PriceRecord;
  /** Name of the window; null for the base. */
  readonly window: string | null;
}

interface Schedule {
  readonly base: PriceInForce;
  readonly windows: readonly {
    readonly window: PriceWindow;
    readonly price: PriceInForce;
    readonly isOpenAt: (atMs: number) => boolean;
  }[];
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A range that begins on one day ends on the next at the latest, and weekdays come again after seven. */
const DAYS_BEFORE = 1;
const DAYS_AHEAD = 8;
/** Days of UTC, from Sunday as Date counts them. */
export const WEEKDAYS: readonly string[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const RANGE = /^([01]\d|2[0-3]):([0-5]\d)-(?:([01]\d|2[0-3]):([0-5]\d)|(24:00))$/;

const schedules = new WeakMap<PriceRecord, Schedule>();

/**
 * The price of a route that is in force at an instant: the first window that holds, else the base, which it is without
 * an instant, too.
 */
export function priceAt(record: PriceRecord, atMs: number | null): PriceInForce {
  if (record.windows == null) return { record, window: null };
  const { base, windows } = scheduleOf(record);
  if (atMs === null) return base;
  return windows.find(({ isOpenAt }) => isOpenAt(atMs))?.price ?? base;
}

/** Every price that is in force at some instant from one to another, both included; without instants the base. */
export function pricesBetween(
  record: PriceRecord,
  fromMs: number | null,
  untilMs: number | null,
): PriceRecord[] {
  if (record.windows == null || fromMs === null || untilMs === null) return [priceAt(record, null).record];
  const instants = [fromMs, ...edges(record, fromMs, untilMs)];
  return [...new Set(instants.map((atMs) => priceAt(record, atMs).record))];
}

/** The next instant at which another price may be in force; null where there is none. */
export function nextPriceEdge(record: PriceRecord, afterMs: number): number | null {
  const ahead = [...edges(record, afterMs, afterMs + DAYS_AHEAD * DAY_MS), ...bounds(record)];
  const next = Math.min(...ahead.filter((atMs) => atMs > afterMs));
  return next === Infinity ? null : next;
}

/** Each price of a record, the base first under the name `standard`. */
export function scheduledPrices(
  record: PriceRecord,
): { name: string; window: PriceWindow | null; record: PriceRecord }[] {
  const { base, windows } = scheduleOf(record);
  return [
    { name: 'standard', window: null, record: base.record },
    ...windows.map(({ window, price }) => ({ name: window.name, window, record: price.record })),
  ];
}

export function hasWindows({ windows }: PriceRecord): boolean {
  return (windows ?? []).length > 0;
}

/** Minutes of the day at which a range of `HH:MM-HH:MM` begins and ends; an end past 1,440 is on the next day. Null: no range. */
export function hourRange(text: string): { from: number; to: number } | null {
  const match = RANGE.exec(text);
  if (match === null) return null;
  const [, fromHour, fromMinute, toHour, toMinute] = match;
  const from = Number(fromHour) * 60 + Number(fromMinute);
  const to = toHour === undefined ? 1_440 : Number(toHour) * 60 + Number(toMinute);
  return { from, to: to <= from ? to + 1_440 : to };
}

/** Returns a test for instants at which a window is in force, ignoring earlier windows. Reads its dates and hours once. */
export function openTest({
  from,
  until,
  hours_utc: hours,
  weekdays,
}: PriceWindow): (atMs: number) => boolean {
  const fromMs = from == null ? -Infinity : Date.parse(from);
  const untilMs = until == null ? Infinity : Date.parse(until);
  const ranges = hours?.flatMap((text) => hourRange(text) ?? []);
  const isDay = (day: number): boolean => weekdays == null || weekdays.includes(weekdayOf(day));
  return (atMs) => {
    if (atMs < fromMs || atMs >= untilMs) return false;
    const day = dayOf(atMs);
    if (ranges === undefined) return isDay(day);
    const minutes = (atMs - day * DAY_MS) / MINUTE_MS;
    return ranges.some((range) => {
      const isToday = minutes >= range.from && minutes < range.to;
      // It began yesterday and runs past midnight.
      const isOfYesterday = minutes + 1_440 >= range.from && minutes + 1_440 < range.to;
      return (isToday && isDay(day)) || (isOfYesterday && isDay(day - 1));
    });
  };
}

/** Instants after one and up to another at which a window may begin or end. */
export function* edges(record: PriceRecord, fromMs: number, untilMs: number): Generator<number> {
  const isWithin = (atMs: number): boolean => atMs > fromMs && atMs <= untilMs;
  for (const atMs of bounds(record)) if (isWithin(atMs)) yield atMs;
  for (const { hours_utc: hours, weekdays } of record.windows ?? [])
    for (const text of hours ?? (weekdays == null ? [] : ['00:00-24:00'])) {
      const { from, to } = hourRange(text) ?? { from: 0, to: 0 };
      for (let day = dayOf(fromMs) - DAYS_BEFORE; day <= dayOf(untilMs); day += 1)
        for (const minute of [from, to]) {
          const atMs = day * DAY_MS + minute * MINUTE_MS;
          if (isWithin(atMs)) yield atMs;
        }
    }
}

function bounds({ windows }: PriceRecord): number[] {
  return (windows ?? []).flatMap(({ from, until }) =>
    [from, until].flatMap((at) => (at == null ? [] : [Date.parse(at)])),
  );
}

function dayOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS);
}

/** Day 0 was a Thursday. */
function weekdayOf(day: number): string {
  return WEEKDAYS[(((day + 4) % 7) + 7) % 7];
}

function scheduleOf(record: PriceRecord): Schedule {
  const known = schedules.get(record);
  if (known !== undefined) return known;
  const { windows, ...base } = record;
  const { is_free, pricing_unit, effective_date } = record;
  const ofRoute = {
    ...(is_free === undefined ? {} : { is_free }),
    ...(pricing_unit === undefined ? {} : { pricing_unit }),
  };
  const schedule: Schedule = {
    base: { record: base, window: null },
    windows: (windows ?? []).map((window) => ({
      window,
      isOpenAt: openTest(window),
      price: {
        record: { ...window.prices, ...ofRoute, ...dated(window, effective_date) },
        window: window.name,
      },
    })),
  };
  schedules.set(record, schedule);
  return schedule;
}

/** The day since which a window may be in force: its own, else that of the whole price. */
function dated({ from }: PriceWindow, day: string | null | undefined): Pick<PriceRecord, 'effective_date'> {
  if (from != null) return { effective_date: new Date(from).toISOString().slice(0, 10) };
  return day === undefined ? {} : { effective_date: day };
}

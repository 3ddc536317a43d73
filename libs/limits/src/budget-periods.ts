export const BUDGET_PERIODS = ['day', 'week', 'month', 'quarter'] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** Half-open range of instants, in milliseconds since 1970. */
export interface PeriodRange {
  startMs: number;
  endMs: number;
}

const DAY_MS = 86_400_000;
/** Largest distance of a local midnight from that of UTC, with a day that a zone skipped. */
const SEARCH_MS = 2 * DAY_MS;
/** Monday, 5 January 1970, in days since 1970. */
const FIRST_MONDAY = 4;
/** Zones with their periods that are remembered: there are some 600 zones. */
const REMEMBERED_MAX = 4_000;

/** Formats instants as local dates; to make one takes a thousand times as long as to use it. */
const formats = new Map<string, Intl.DateTimeFormat>();
/** The period that was asked for last of each zone. */
const remembered = new Map<string, PeriodRange>();

/**
 * Returns the calendar period of a zone in which an instant lies: from local midnight to local midnight. Where midnight does not
 * exist it begins at the first instant of its day. Throws RangeError for an unknown zone.
 */
export function periodAt(period: BudgetPeriod, timeZone: string, atMs: number): PeriodRange {
  const name = `${period} ${timeZone}`;
  const known = remembered.get(name);
  if (known !== undefined && known.startMs <= atMs && atMs < known.endMs) return known;
  const range = findPeriod(period, timeZone, atMs);
  if (remembered.size >= REMEMBERED_MAX) remembered.clear();
  remembered.set(name, range);
  return range;
}

function findPeriod(period: BudgetPeriod, timeZone: string, atMs: number): PeriodRange {
  let day = firstDay(period, localDay(timeZone, atMs));
  // Where clocks are set back over midnight, a day is shown once more after it has ended.
  for (;;) {
    const next = nextFirstDay(period, day);
    const endMs = startOfDay(timeZone, next);
    if (atMs < endMs) return { startMs: startOfDay(timeZone, day), endMs };
    day = next;
  }
}

/** Returns the first day of a day's period. Days are numbers since 1970. */
function firstDay(period: BudgetPeriod, day: number): number {
  const date = new Date(day * DAY_MS);
  switch (period) {
    case 'day':
      return day;
    case 'week':
      return day - ((((day - FIRST_MONDAY) % 7) + 7) % 7);
    case 'month':
      return dayOf(date.getUTCFullYear(), date.getUTCMonth());
    case 'quarter':
      return dayOf(date.getUTCFullYear(), date.getUTCMonth() - (date.getUTCMonth() % 3));
  }
}

function nextFirstDay(period: BudgetPeriod, first: number): number {
  if (period === 'day') return first + 1;
  if (period === 'week') return first + 7;
  const date = new Date(first * DAY_MS);
  return dayOf(date.getUTCFullYear(), date.getUTCMonth() + (period === 'month' ? 1 : 3));
}

function dayOf(year: number, month: number): number {
  return Date.UTC(year, month, 1) / DAY_MS;
}

/** Returns the first instant at which the zone shows this day, or a later one where it skips it. */
function startOfDay(timeZone: string, day: number): number {
  let before = day * DAY_MS - SEARCH_MS;
  let from = day * DAY_MS + SEARCH_MS;
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (localDay(timeZone, middle) >= day) from = middle;
    else before = middle;
  }
  return from;
}

function localDay(timeZone: string, atMs: number): number {
  const parts = formatOf(timeZone).formatToParts(atMs);
  const part = (wanted: string): number => Number(parts.find(({ type }) => type === wanted)?.value);
  return Date.UTC(part('year'), part('month') - 1, part('day')) / DAY_MS;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
    });
    if (formats.size >= REMEMBERED_MAX) formats.clear();
    formats.set(timeZone, format);
  }
  return format;
}

import type { PriceRecord, PriceWindow } from '@gateway/contracts';
import fc from 'fast-check';
import { nextPriceEdge, priceAt, pricesBetween, scheduledPrices, WEEKDAYS } from './price-windows.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const prices = (rate: string): PriceRecord => ({ prompt_usd_per_1m: rate, completion_usd_per_1m: rate });
const PEAK: PriceWindow = {
  name: 'peak',
  hours_utc: ['01:00-04:00', '06:00-10:00'],
  weekdays: ['mon', 'tue', 'wed', 'thu', 'fri'],
  prices: prices('2'),
};
const record = (...windows: PriceWindow[]): PriceRecord => ({
  ...{ pricing_unit: 'per_1m_tokens', effective_date: '2026-01-01', ...prices('1'), windows },
});
const at = (text: string): number => Date.parse(text);
const nameAt = (one: PriceRecord, text: string): string | null => priceAt(one, at(text)).window;

/** Says by the calendar's own words whether a window holds: Date prints the day, its predecessor, and the clock. */
function holdsByCalendar({ hours_utc: hours, weekdays, from, until }: PriceWindow, atMs: number): boolean {
  if (from != null && atMs < at(from)) return false;
  if (until != null && atMs >= at(until)) return false;
  const isListed = (ms: number): boolean =>
    weekdays == null || weekdays.includes(new Date(ms).toUTCString().slice(0, 3).toLowerCase());
  if (hours == null) return isListed(atMs);
  const clock = new Date(atMs).toISOString().slice(11);
  return hours.some((range) => {
    const [begin, end] = range.split('-');
    if (begin < end) return clock >= begin && clock < `${end}` && isListed(atMs);
    return (clock >= begin && isListed(atMs)) || (clock < end && isListed(atMs - DAY_MS));
  });
}

const two = (n: number): string => String(n).padStart(2, '0');
const minuteOfDay = fc
  .integer({ min: 0, max: 1_439 })
  .map((n) => `${two(Math.floor(n / 60))}:${two(n % 60)}`);
const range = fc
  .tuple(minuteOfDay, fc.oneof(minuteOfDay, fc.constant('24:00')))
  .map(([from, to]) => `${from}-${to}`);
/** Around the turn of years, leap days and the ends of daylight saving, none of which may matter. */
const instant = fc.oneof(
  fc.date({
    min: new Date('2023-12-01T00:00:00Z'),
    max: new Date('2029-02-01T00:00:00Z'),
    noInvalidDate: true,
  }),
  ...[
    '2026-12-31T23:59:59.999Z',
    '2027-01-01T00:00:00Z',
    '2028-02-28T23:59:59.999Z',
    '2028-02-29T12:00:00Z',
  ].map((text) => fc.integer({ min: -DAY_MS, max: DAY_MS }).map((ms) => new Date(at(text) + ms))),
);
const bound = fc.option(
  instant.map((date) => date.toISOString()),
  { nil: null },
);
const window = (name: string): fc.Arbitrary<PriceWindow> =>
  fc.record({
    name: fc.constant(name),
    hours_utc: fc.option(fc.array(range, { minLength: 1, maxLength: 3 }), { nil: null }),
    weekdays: fc.option(fc.subarray([...WEEKDAYS], { minLength: 1 }), { nil: null }),
    from: bound,
    until: bound,
    prices: fc.constant(prices('2')),
  });
const windowed = fc.tuple(window('a'), window('b')).map((windows) => record(...windows));

describe('the price that is in force at an instant', () => {
  it('issue 37 is that of the first window that holds by the calendar, else the standard price', () => {
    fc.assert(
      fc.property(windowed, instant, (one, date) => {
        const expected = one.windows?.find((each) => holdsByCalendar(each, date.getTime()))?.name ?? null;
        expect(priceAt(one, date.getTime()).window).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    // A Friday and the Saturday after it.
    ['2026-11-27T00:59:59.999Z', null],
    ['2026-11-27T01:00:00Z', 'peak'],
    ['2026-11-27T03:59:59.999Z', 'peak'],
    ['2026-11-27T04:00:00Z', null],
    ['2026-11-27T06:00:00Z', 'peak'],
    ['2026-11-28T06:00:00Z', null],
    // New Year's Day 2027 is a Friday, the leap day of 2028 a Tuesday.
    ['2027-01-01T01:00:00Z', 'peak'],
    ['2028-02-29T09:59:59.999Z', 'peak'],
    ['2028-02-29T10:00:00Z', null],
  ])('issue 37 of weekday peak hours at %s is %s', (text, expected) => {
    expect(nameAt(record(PEAK), text)).toBe(expected);
  });

  it('issue 37 a range past midnight belongs to the weekday on which it begins', () => {
    const night = record({ ...PEAK, name: 'night', hours_utc: ['22:00-02:00'], weekdays: ['fri'] });
    expect(nameAt(night, '2026-11-27T01:59:59.999Z')).toBeNull();
    expect(nameAt(night, '2026-11-27T22:00:00Z')).toBe('night');
    expect(nameAt(night, '2026-11-28T01:59:59.999Z')).toBe('night');
    expect(nameAt(night, '2026-11-28T02:00:00Z')).toBeNull();
  });

  it('issue 37 a promotion ends on its instant and keeps the day of its price', () => {
    const promotion = record({
      name: 'promotion',
      until: '2026-12-01T00:00:00+08:00',
      prices: prices('0.5'),
    });
    expect(priceAt(promotion, at('2026-11-30T15:59:59.999Z'))).toEqual({
      window: 'promotion',
      record: { ...prices('0.5'), pricing_unit: 'per_1m_tokens', effective_date: '2026-01-01' },
    });
    expect(nameAt(promotion, '2026-11-30T16:00:00Z')).toBeNull();
    const later = record({ ...PEAK, from: '2026-11-03T00:00:00Z' });
    expect(priceAt(later, at('2026-11-27T01:00:00Z')).record.effective_date).toBe('2026-11-03');
  });

  it('issue 37 is one object for each window, and the record itself where there is none', () => {
    const one = record(PEAK);
    const [first, second] = ['2026-11-26T01:00:00Z', '2026-11-27T07:00:00Z'].map((text) =>
      priceAt(one, at(text)),
    );
    expect(first.record).toBe(second.record);
    const plain = prices('1');
    expect(priceAt(plain, 0).record).toBe(plain);
    expect(priceAt(one, null).window).toBeNull();
    expect(scheduledPrices(one).map(({ name }) => name)).toEqual(['standard', 'peak']);
  });
});

describe('the prices that can be in force until the end of a unit', () => {
  it('issue 37 are exactly those that hold at some millisecond of it', () => {
    fc.assert(
      fc.property(windowed, instant, fc.integer({ min: 0, max: DAY_MS }), (one, date, ms) => {
        const fromMs = date.getTime();
        const found = new Set(pricesBetween(one, fromMs, fromMs + ms).map((each) => each));
        const seen = new Set<PriceRecord>();
        // Windows begin and end on minutes or on bounds; each minute, its neighbours and the bounds are looked at.
        const looked = [fromMs, fromMs + ms];
        for (let minute = Math.ceil(fromMs / 60_000); minute * 60_000 <= fromMs + ms; minute += 1)
          looked.push(minute * 60_000);
        for (const { from, until } of one.windows ?? [])
          for (const edge of [from, until])
            if (edge != null && at(edge) >= fromMs && at(edge) <= fromMs + ms) looked.push(at(edge));
        for (const each of looked) seen.add(priceAt(one, each).record);
        expect(found).toEqual(seen);
      }),
      { numRuns: 200 },
    );
  });

  it('issue 37 a request a millisecond before an edge may still be called after it', () => {
    const before = at('2026-11-27T01:00:00Z') - 1;
    const rates = (ms: number): unknown[] =>
      pricesBetween(record(PEAK), before, before + ms).map(({ prompt_usd_per_1m: rate }) => rate);
    expect(rates(0)).toEqual(['1']);
    expect(rates(1)).toEqual(['1', '2']);
  });

  it('issue 37 no price changes before the next edge', () => {
    fc.assert(
      fc.property(windowed, instant, fc.double({ min: 0, max: 1, noNaN: true }), (one, date, share) => {
        const fromMs = date.getTime();
        const edge = nextPriceEdge(one, fromMs) ?? fromMs + 400 * DAY_MS;
        expect(edge).toBeGreaterThan(fromMs);
        const between = Math.floor(fromMs + (edge - 1 - fromMs) * share);
        expect(priceAt(one, between).record).toBe(priceAt(one, fromMs).record);
      }),
    );
    expect(nextPriceEdge(prices('1'), 0)).toBeNull();
  });
});

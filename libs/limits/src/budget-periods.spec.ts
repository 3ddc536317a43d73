import fc from 'fast-check';
import { BUDGET_PERIODS, periodAt } from './budget-periods.js';

const iso = (ms: number): string => new Date(ms).toISOString();
const at = (period: (typeof BUDGET_PERIODS)[number], zone: string, text: string): string[] => {
  const { startMs, endMs } = periodAt(period, zone, Date.parse(text));
  return [iso(startMs), iso(endMs)];
};
const hours = (range: string[]): number => (Date.parse(range[1]) - Date.parse(range[0])) / 3_600_000;

/** Zones with summer time on either half of the earth, odd offsets, skipped days and clocks set at midnight. */
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Sao_Paulo',
  'America/St_Johns',
  'America/Havana',
  'Asia/Kathmandu',
  'Asia/Beirut',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Kwajalein',
  'Pacific/Kiritimati',
  'Africa/Casablanca',
  'Etc/GMT+12',
];

function localParts(zone: string, ms: number): { date: string; time: string; weekday: string } {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    dateStyle: 'short',
  });
  const time = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeStyle: 'medium' });
  const weekday = new Intl.DateTimeFormat('en-US', { timeZone: zone, weekday: 'short' });
  return { date: format.format(ms), time: time.format(ms), weekday: weekday.format(ms) };
}

describe('periods of budgets', () => {
  it.each([
    ['a day of 23 hours, where clocks are set forward', 'Europe/Berlin', '2026-03-29T12:00:00Z', 23],
    ['a day of 25 hours, where they are set back', 'Europe/Berlin', '2026-10-25T12:00:00Z', 25],
    ['a day of 23.5 hours', 'Australia/Lord_Howe', '2026-10-04T03:00:00Z', 23.5],
    ['a day that begins at one, because it has no midnight', 'America/Havana', '2026-03-08T12:00:00Z', 23],
  ])('%s', (_name, zone, text, expected) => {
    expect(hours(at('day', zone, text))).toBe(expected);
  });

  it('a day without midnight begins at its first instant', () => {
    const [start] = at('day', 'America/Havana', '2026-03-08T12:00:00Z');
    expect([start, localParts('America/Havana', Date.parse(start)).time]).toEqual([
      '2026-03-08T05:00:00.000Z',
      '01:00:00',
    ]);
  });

  it('a leap day ends February, and a common year has none', () => {
    expect(at('month', 'UTC', '2028-02-29T23:59:59.999Z')).toEqual([
      '2028-02-01T00:00:00.000Z',
      '2028-03-01T00:00:00.000Z',
    ]);
    expect(hours(at('month', 'UTC', '2026-02-10T00:00:00Z'))).toBe(28 * 24);
  });

  it('a zone that skips a day passes from the one before to the one after', () => {
    expect(at('day', 'Pacific/Apia', '2011-12-30T09:59:59.999Z')).toEqual([
      '2011-12-29T10:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
    ]);
    expect(at('day', 'Pacific/Apia', '2011-12-30T10:00:00Z')).toEqual([
      '2011-12-30T10:00:00.000Z',
      '2011-12-31T10:00:00.000Z',
    ]);
  });

  it('the last millisecond of a quarter is of it, the next one of the next year', () => {
    const last = Date.parse('2027-01-01T05:00:00Z') - 1;
    expect(at('quarter', 'America/New_York', iso(last))).toEqual([
      '2026-10-01T04:00:00.000Z',
      '2027-01-01T05:00:00.000Z',
    ]);
    expect(at('quarter', 'America/New_York', iso(last + 1))[0]).toBe('2027-01-01T05:00:00.000Z');
  });

  it('a week begins on Monday, over the turn of a year too', () => {
    expect(at('week', 'UTC', '2027-01-01T00:00:00Z')).toEqual([
      '2026-12-28T00:00:00.000Z',
      '2027-01-04T00:00:00.000Z',
    ]);
    expect(at('week', 'UTC', '1969-12-31T00:00:00Z')[0]).toBe('1969-12-29T00:00:00.000Z');
  });

  it('an unknown zone is refused', () => {
    expect(() => periodAt('day', 'Mars/Olympus', 0)).toThrow(RangeError);
  });

  it('each instant is of one period, which ends where the next begins, at a midnight or where there is none', () => {
    const instant = fc.integer({ min: Date.UTC(1995, 0, 1), max: Date.UTC(2040, 0, 1) });
    fc.assert(
      fc.property(
        fc.constantFrom(...BUDGET_PERIODS),
        fc.constantFrom(...ZONES),
        instant,
        (period, zone, ms) => {
          const { startMs, endMs } = periodAt(period, zone, ms);
          expect(startMs <= ms && ms < endMs).toBe(true);
          expect(periodAt(period, zone, startMs)).toEqual({ startMs, endMs });
          expect(periodAt(period, zone, endMs - 1)).toEqual({ startMs, endMs });
          expect(periodAt(period, zone, endMs).startMs).toBe(endMs);
          expect(periodAt(period, zone, startMs - 1).endMs).toBe(startMs);
          const before = localParts(zone, startMs - 1);
          const first = localParts(zone, startMs);
          if (first.time !== '00:00:00') expect(before.date).not.toBe(first.date);
          if (period === 'week' && before.weekday === 'Sun') expect(first.weekday).toBe('Mon');
          if (period === 'month') expect(first.date.slice(-2)).toBe('01');
          if (period === 'quarter') expect(first.date.slice(-5)).toMatch(/^(01|04|07|10)-01$/);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('each period of each zone begins and ends with a quarter of an hour of UTC, by which spend at providers is kept', () => {
    const instant = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2040, 0, 1) });
    const zone = fc.constantFrom(...Intl.supportedValuesOf('timeZone'));
    fc.assert(
      fc.property(fc.constantFrom(...BUDGET_PERIODS), zone, instant, (period, timeZone, ms) => {
        const { startMs, endMs } = periodAt(period, timeZone, ms);
        expect([timeZone, startMs % 900_000, endMs % 900_000]).toEqual([timeZone, 0, 0]);
      }),
      { numRuns: 500 },
    );
  });
});

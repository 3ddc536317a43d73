import { absoluteTime, bucketLabel, dayStart, milliseconds, relativeTime, usedOf } from './time.js';

const NOW = Date.parse('2026-11-22T12:00:00Z');

describe('times', () => {
  it.each([
    ['2026-11-22T11:59:30Z', '30 sec. ago'],
    ['2026-11-22T10:00:00Z', '2 hr. ago'],
    ['2026-11-21T12:00:00Z', 'yesterday'],
    ['2026-12-02T12:00:00Z', 'in 10 days'],
    ['2026-11-22T12:00:00Z', 'now'],
  ])('%s is %s', (iso, shown) => {
    expect(relativeTime(iso, NOW)).toBe(shown);
  });

  it('names the zone of an absolute time, over a clock change too', () => {
    expect(absoluteTime('2026-11-22T12:00:00Z', 'UTC')).toBe('22 Nov 2026, 12:00:00 UTC');
    expect(absoluteTime('2026-11-22T12:00:00Z', 'Asia/Kolkata')).toBe('22 Nov 2026, 17:30:00 GMT+5:30');
    expect(absoluteTime('2026-11-01T08:30:00Z', 'America/Los_Angeles')).toBe('01 Nov 2026, 01:30:00 GMT-7');
    expect(absoluteTime('2026-11-01T09:30:00Z', 'America/Los_Angeles')).toBe('01 Nov 2026, 01:30:00 GMT-8');
  });

  it('puts a bucket on the axis of its zone', () => {
    expect(bucketLabel('2026-11-21T18:30:00Z', 'day', 'Asia/Kolkata')).toBe('22 Nov');
    expect(bucketLabel('2026-11-21T18:00:00Z', 'hour', 'UTC')).toBe('18:00');
  });

  it('writes durations in ms below a second and in s above', () => {
    expect([null, 0, 999.4, 1_234].map((ms) => milliseconds(ms))).toEqual(['–', '0 ms', '999 ms', '1.23 s']);
  });
});

describe('where a day begins', () => {
  it.each([
    ['2026-03-08', 'UTC', 0, '2026-03-08T00:00:00.000Z'],
    ['2026-03-08', 'Asia/Kolkata', 0, '2026-03-07T18:30:00.000Z'],
    // The clock goes forward at two in the morning: this day has 23 hours.
    ['2026-03-08', 'America/Los_Angeles', 0, '2026-03-08T08:00:00.000Z'],
    ['2026-03-08', 'America/Los_Angeles', 1, '2026-03-09T07:00:00.000Z'],
    ['2026-11-01', 'America/Los_Angeles', 1, '2026-11-02T08:00:00.000Z'],
    ['2026-12-31', 'UTC', 1, '2027-01-01T00:00:00.000Z'],
    ['2026-13-45', 'UTC', 0, null],
    ['yesterday', 'UTC', 0, null],
  ])('%s of %s, %i days later', (day, zone, after, instant) => {
    expect(dayStart(day, zone, after)).toBe(instant);
  });
});

describe('what is used of a limit', () => {
  it.each([
    [1_234, 10_000, '1,234 of 10,000'],
    [0, 0, '0 of 0'],
    [25, null, '25, no limit'],
  ])('%p of %p is %s', (used, limit, shown) => {
    expect(usedOf(used, limit)).toBe(shown);
  });
});

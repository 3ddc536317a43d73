import { rangeBefore, rangeOfUrl } from './range.js';
import { keepRange, type Places } from './keep-range.js';
import { keptRange } from './remembered-range.js';
import type { Params } from './search-params.js';
import { spanOf } from './span.js';

const NOW = Date.parse('2026-03-20T10:00:30Z');

describe('the range that a URL names', () => {
  it('is whole days of the zone, of which the last ends before the next begins', () => {
    const url = { from: '2026-03-08', to: '2026-03-08' };
    expect(rangeOfUrl(url, '7d', 'America/Los_Angeles', NOW)).toEqual({
      since: '2026-03-08T08:00:00.000Z',
      until: '2026-03-09T06:59:59.999Z',
      hours: 23,
    });
  });

  it('is the time between two instants, whatever the zone', () => {
    const url = { from: '2026-03-08T08:30Z', to: '2026-03-08T10:00Z' };
    for (const zone of ['UTC', 'Asia/Kolkata'])
      expect(rangeOfUrl(url, '7d', zone, NOW)).toEqual({
        since: '2026-03-08T08:30:00.000Z',
        until: '2026-03-08T09:59:59.999Z',
        hours: 1.5,
      });
  });

  it.each([
    ['month', 'America/Los_Angeles', { since: '2026-03-01T08:00:00.000Z', hours: 458 + 1 / 120 }],
    [
      'last-month',
      'America/Los_Angeles',
      { since: '2026-02-01T08:00:00.000Z', until: '2026-03-01T07:59:59.999Z', hours: 672 },
    ],
    [
      'last-month',
      'Asia/Kolkata',
      { since: '2026-01-31T18:30:00.000Z', until: '2026-02-28T18:29:59.999Z', hours: 672 },
    ],
  ])('is a month of the calendar of its zone: %s in %s', (range, zone, { hours, ...times }) => {
    const found = rangeOfUrl({ range }, '7d', zone, NOW);
    expect(found).toMatchObject(times);
    expect(found.hours).toBeCloseTo(hours, 6);
    expect('until' in found).toBe(range === 'last-month');
  });

  it('the month before January is December of the year before', () => {
    const { since, until } = rangeOfUrl(
      { range: 'last-month' },
      '7d',
      'UTC',
      Date.parse('2026-01-31T23:00:00Z'),
    );
    expect([since, until]).toEqual(['2025-12-01T00:00:00.000Z', '2025-12-31T23:59:59.999Z']);
  });

  it.each([
    ['2026-03-08T08:00:00Z', '2026-03-09T07:00:00Z', { from: '2026-03-08', to: '2026-03-08' }],
    ['2026-03-08T08:00:00Z', '2026-03-09T08:00:00Z', { from: '2026-03-08T08:00Z', to: '2026-03-09T08:00Z' }],
  ])('is written in whole days where it is: %s to %s', (from, before, shown) => {
    const zone = 'America/Los_Angeles';
    expect(spanOf(Date.parse(from), Date.parse(before), zone)).toEqual({ ...shown, zone });
  });

  const none: Params[] = [
    {},
    { from: '2026-03-08' },
    { from: '2026-03-09', to: '2026-03-07' },
    { range: 'all' },
    { from: '2026-13-45T00:00Z', to: '2026-13-46T00:00Z' },
  ];
  it.each(none)('is the default where it names none: %j', (url) => {
    expect(rangeOfUrl(url, '24h', 'UTC', NOW)).toEqual({ since: '2026-03-19T10:00:00.000Z', hours: 24 });
  });
});

describe('a range that was picked by hand', () => {
  const storage = (text?: string): Places['tab'] & { text: () => string } => {
    let kept = text;
    return {
      getItem: () => kept ?? null,
      setItem: (_, value) => void (kept = value),
      text: () => kept ?? '',
    };
  };
  const places = (text?: string): (() => { tab: Places['tab']; browser: ReturnType<typeof storage> }) => {
    const kept = { tab: storage(text), browser: storage(text) };
    return () => kept;
  };

  const read = (kept: ReturnType<typeof places>, org: string, path: string): Params =>
    keptRange(() => [kept().tab, kept().browser], org, path);

  it('is in the links of its organization, and left out where it is the page’s own', () => {
    const kept = places();
    keepRange(kept, 'org_1', { range: '24h', zone: 'Asia/Kolkata' });
    expect(read(kept, 'org_1', '/usage')).toEqual({ range: '24h', zone: 'Asia/Kolkata' });
    expect(read(kept, 'org_1', '/requests')).toEqual({ zone: 'Asia/Kolkata' });
    expect(read(kept, 'org_2', '/usage')).toEqual({});
  });

  it('stands until the tab is closed where it is of days, and gives way to what is picked later', () => {
    const kept = places();
    const days = { from: '2026-03-01', to: '2026-03-02', zone: 'UTC' };
    keepRange(kept, 'org_1', { range: '30d' });
    keepRange(kept, 'org_1', days);
    expect(read(kept, 'org_1', '/usage')).toEqual(days);
    expect(keptRange(() => [storage(), kept().browser], 'org_1', '/usage')).toEqual({ range: '30d' });
    keepRange(kept, 'org_1', { range: '1h' });
    expect(read(kept, 'org_1', '/usage')).toEqual({ range: '1h' });
  });

  it('is kept of 20 organizations at most, under one name', () => {
    const kept = places();
    for (let n = 0; n < 25; n += 1) keepRange(kept, `org_${n}`, { range: '30d' });
    expect(Object.keys(JSON.parse(kept().browser.text()) as object)).toHaveLength(20);
    expect(read(kept, 'org_24', '/usage')).toEqual({ range: '30d' });
    expect(read(kept, 'org_4', '/usage')).toEqual({});
  });

  it.each(['no json', '{}', 'null', '[]', '7', '{"org_1": null}', '{"org_1": 7}', '{"org_1": {}}'])(
    'that cannot be read is none, and can be picked anew: %s',
    (text) => {
      const kept = places(text);
      expect(read(kept, 'org_1', '/usage')).toEqual({});
      keepRange(kept, 'org_1', { range: '30d' });
      expect(read(kept, 'org_1', '/usage')).toEqual({ range: '30d' });
    },
  );
});

describe('the period before a range', () => {
  const before = (url: Params, zone: string, now = NOW) =>
    rangeBefore(url, rangeOfUrl(url, '7d', zone, now), zone);

  it.each([
    ['7d', '2026-03-06T10:00:00.000Z', '2026-03-13T09:59:59.999Z'],
    ['last-month', '2026-01-01T00:00:00.000Z', '2026-01-31T23:59:59.999Z'],
    ['month', '2026-02-01T00:00:00.000Z', '2026-02-20T10:00:29.999Z'],
  ])('of %s is %s to %s', (range, since, until) => {
    expect(before({ range }, 'UTC')).toEqual({ since, until });
  });

  it('of a month that is longer than the one before is that whole month', () => {
    const march31 = Date.parse('2026-03-31T12:00:00Z');
    expect(before({ range: 'month' }, 'Asia/Kolkata', march31)).toEqual({
      since: '2026-01-31T18:30:00.000Z',
      until: '2026-02-28T18:29:59.999Z',
    });
  });

  it('of days picked by hand is as long as they are, and ends where they begin', () => {
    const url = { from: '2026-03-10', to: '2026-03-12' };
    expect(before(url, 'UTC')).toEqual({
      since: '2026-03-07T00:00:00.000Z',
      until: '2026-03-09T23:59:59.999Z',
    });
  });
});

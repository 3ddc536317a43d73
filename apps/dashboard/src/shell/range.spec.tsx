import { rangeOfUrl } from './range.js';
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

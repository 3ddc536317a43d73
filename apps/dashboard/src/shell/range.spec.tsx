import { rangeOfUrl } from './range.js';
import type { Params } from './search-params.js';

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

  const none: Params[] = [
    {},
    { from: '2026-03-08' },
    { from: '2026-03-09', to: '2026-03-07' },
    { range: 'all' },
  ];
  it.each(none)('is the default where it names none: %j', (url) => {
    expect(rangeOfUrl(url, '24h', 'UTC', NOW)).toEqual({ since: '2026-03-19T10:00:00.000Z', hours: 24 });
  });
});

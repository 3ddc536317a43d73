import { freshness, passCache } from './fresh-reads.js';

const NOW = Date.parse('2026-03-07T12:00:00Z');

describe('LIM-18 how fresh a read of usage is', () => {
  it('passes the cache of a minute for a minute after it was asked to, and no longer', () => {
    expect(freshness(NOW)).toEqual({});
    passCache(NOW);
    expect(freshness(NOW)).toEqual({ refresh: true });
    expect(freshness(NOW + 59_999)).toEqual({ refresh: true });
    expect(freshness(NOW + 60_000)).toEqual({});
  });
});

import type { Route } from '@gateway/contracts';
import { RouteStats, type RouteSample } from './route-stats.js';

const route = { provider: 'p', model: 'a/m', upstreamModel: 'm' } as Route;
const MINUTE = 60_000;
const sample = (firstPieceMs: number | null, more: Partial<RouteSample> = {}): RouteSample => ({
  firstPieceMs,
  tokensPerSecond: null,
  isFault: false,
  ...more,
});

describe('RouteStats', () => {
  let stats: RouteStats;
  beforeEach(() => (stats = new RouteStats()));

  it('knows nothing of a route that was never used', () => {
    expect([stats.latencyMs(route, 0), stats.tokensPerSecond(route, 0), stats.uptime(route, 0)]).toEqual([
      null,
      null,
      1,
    ]);
  });

  it('knows no speed of a route of which nothing has come', () => {
    stats.see(route, sample(null, { isFault: true }), 0);
    expect([stats.latencyMs(route, 0), stats.tokensPerSecond(route, 0)]).toEqual([null, null]);
  });

  it('reports the median of the last 32 tries, and the share that the provider did not fail', () => {
    for (let n = 0; n < 40; n += 1) stats.see(route, sample(9_999, { isFault: true }), 0);
    for (let n = 1; n <= 31; n += 1) stats.see(route, sample(n * 10, { tokensPerSecond: n }), 0);
    stats.see(route, sample(null, { isFault: true }), 0);
    expect(stats.latencyMs(route, 0)).toBe(160);
    expect(stats.tokensPerSecond(route, 0)).toBe(16);
    expect(stats.uptime(route, 0)).toBe(31 / 32);
  });

  it('forgets what is older than half an hour', () => {
    stats.see(route, sample(10, { isFault: true }), 0);
    expect(stats.latencyMs(route, 30 * MINUTE)).toBe(10);
    expect([stats.latencyMs(route, 30 * MINUTE + 1), stats.uptime(route, 30 * MINUTE + 1)]).toEqual([
      null,
      1,
    ]);
    stats.see(route, sample(20), 61 * MINUTE);
    expect(stats.uptime(route, 61 * MINUTE)).toBe(1);
  });

  it('keeps a caller and model with the provider that served them for five minutes', () => {
    stats.served('key_1', route, 0);
    expect(stats.affineProvider('key_1', 'a/m', 5 * MINUTE - 1)).toBe('p');
    expect(stats.affineProvider('key_1', 'a/m', 5 * MINUTE)).toBeNull();
    expect(stats.affineProvider('key_2', 'a/m', 0)).toBeNull();
    expect(stats.affineProvider('key_1', 'a/other', 0)).toBeNull();
  });
});

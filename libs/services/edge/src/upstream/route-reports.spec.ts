import type { Route } from '@gateway/contracts';
import { RouteFigureCounts } from '@gateway/routing';
import { fixedClock, RouteHealthDouble } from '@gateway/testing';
import { RouteReports } from './route-reports.js';

const sample = { firstPieceMs: 100, tokensPerSecond: null, isFault: false };
const route = (n: number): Route => ({ provider: 'p', model: `a/m${n}`, upstreamModel: 'm' }) as Route;

describe('reports of how providers fare', () => {
  it('are sent every 15 s where there was traffic, 500 at once, and once more at the end', async () => {
    const clock = fixedClock('2026-11-01T12:00:00Z');
    const figures = new RouteFigureCounts();
    const health = new RouteHealthDouble();
    const faults: unknown[] = [];
    const reports = new RouteReports(figures, health, clock, (fault) => faults.push(fault));
    reports.start();
    await clock.advance(60_000);
    expect(health.reports).toEqual([]);
    for (let n = 0; n < 1_200; n += 1) figures.see(route(n), sample);
    await clock.advance(15_000);
    expect(health.reports.map(({ length }) => length)).toEqual([500, 500, 200]);
    health.isAway = true;
    figures.see(route(0), sample);
    await clock.advance(15_000);
    expect(faults).toHaveLength(1);
    health.isAway = false;
    figures.see(route(1), sample);
    await reports.stop();
    expect(health.reports.at(3)).toMatchObject([{ model: 'a/m1', tries: 1 }]);
    expect(clock.pendingTimers).toBe(0);
  });
});

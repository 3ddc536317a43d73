import { UpstreamError, type BreakerState, type HealthState, type Route } from '@gateway/contracts';
import { RouteFigureCounts } from '@gateway/routing';
import { fixedClock, RouteHealthDouble } from '@gateway/testing';
import { LastErrors, RouteReports } from './route-reports.js';

const sample = { firstPieceMs: 100, tokensPerSecond: null, isFault: false };
const route = (n: number): Route => ({ provider: 'p', model: `a/m${n}`, upstreamModel: 'm' }) as Route;

type Parts = ConstructorParameters<typeof RouteReports>[0];
let errors: LastErrors;
let answers: Map<string, HealthState>;
beforeEach(() => {
  errors = new LastErrors();
  answers = new Map();
});
const parts = (
  clock: Parts['clock'],
  health: RouteHealthDouble,
  states: { provider: string; state: BreakerState }[],
): Parts => ({
  ...{ clock, health, edge: 'e1', breakers: { states: () => states } },
  figures: new RouteFigureCounts(),
  errors,
  answers,
  onFault: (fault) => {
    throw fault;
  },
});

describe('reports of how providers fare', () => {
  it('are sent every 15 s where there was traffic, 500 at once, and once more at the end', async () => {
    const clock = fixedClock('2026-11-01T12:00:00Z');
    const figures = new RouteFigureCounts();
    const health = new RouteHealthDouble();
    const faults: unknown[] = [];
    const reports = new RouteReports({
      ...parts(clock, health, []),
      figures,
      onFault: (fault) => faults.push(fault),
    });
    reports.start();
    await clock.advance(60_000);
    expect(health.reports).toEqual([]);
    for (let n = 0; n < 1_200; n += 1) figures.see(route(n), sample);
    await clock.advance(15_000);
    expect(health.reports.map(({ length }) => length)).toEqual([500, 500, 200]);
    health.isUnavailable = true;
    figures.see(route(0), sample);
    await clock.advance(15_000);
    expect(faults).toHaveLength(1);
    health.isUnavailable = false;
    figures.see(route(1), sample);
    await reports.stop();
    expect(health.reports.at(3)).toMatchObject([{ model: 'a/m1', tries: 1 }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('issue 16 D11 have the worst breaker of each provider and its last error without its text', async () => {
    const clock = fixedClock('2026-11-01T12:00:00Z');
    const health = new RouteHealthDouble();
    const breakers: { provider: string; state: BreakerState }[] = [];
    const reports = new RouteReports(parts(clock, health, breakers));
    reports.start();
    await clock.advance(15_000);
    expect(health.states).toEqual([]);
    breakers.push(
      { provider: 'a', state: 'closed' },
      { provider: 'a', state: 'open' },
      { provider: 'a', state: 'half_open' },
      { provider: 'b', state: 'closed' },
    );
    const fail = (provider: string, httpStatus: number | null, providerCode?: string): void =>
      errors.add(
        provider,
        new UpstreamError({
          ...{ code: 'upstream_error', message: 'Bad key sk-secret-1', httpStatus, fault: 'service' },
          ...{ retryable: true, fallback: true, countsAsFault: true },
          ...(providerCode === undefined ? {} : { providerCode }),
        }),
        clock.now(),
      );
    fail('a', 500);
    fail('a', 401, 'internal_provider_error');
    fail('c', null);
    answers.set('c', 'failing').set('d', 'ok');
    await clock.advance(15_000);
    const at = '2026-11-01T12:00:15.000Z';
    const code = 'upstream_error';
    const first = [
      {
        provider: 'a',
        breaker: 'open',
        last_error: { code, provider_code: 'internal_provider_error', http_status: 401, at },
        health: null,
      },
      {
        provider: 'c',
        breaker: 'closed',
        last_error: { code, provider_code: null, http_status: null, at },
        health: 'failing',
      },
      { provider: 'd', breaker: 'closed', last_error: null, health: 'ok' },
      { provider: 'b', breaker: 'closed', last_error: null, health: null },
    ];
    expect(health.states).toEqual([first]);
    breakers.length = 0;
    await reports.stop();
    expect(health.states.at(1)).toEqual([{ ...first[0], breaker: 'closed' }, first[1], first[2]]);
  });
});

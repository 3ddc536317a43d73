import { fixedClock, RouteHealthDouble } from '@gateway/testing';
import { CredentialReports } from './credential-reports.js';

const OFFER = { providers: ['openai'], unserved: [] };

describe('reports of the credentials of an edge', () => {
  it('issue 37 are sent before the start returns, again each second after a failure and every 15 s after a success, and withdrawn at the end', async () => {
    const clock = fixedClock('2026-11-01T12:00:00Z');
    const health = new RouteHealthDouble();
    const faults: unknown[] = [];
    const reports = new CredentialReports(
      health,
      'e1',
      () => OFFER,
      clock,
      (fault) => faults.push(fault),
    );
    health.isUnavailable = true;
    await reports.start();
    expect(faults).toHaveLength(1);
    await clock.advance(1_000);
    expect(faults).toHaveLength(2);
    health.isUnavailable = false;
    await clock.advance(999);
    expect(health.credentials).toEqual([]);
    await clock.advance(1);
    expect(health.credentials).toEqual([OFFER]);
    await clock.advance(14_999);
    expect(health.credentials).toHaveLength(1);
    await clock.advance(1);
    expect(health.credentials).toEqual([OFFER, OFFER]);
    await reports.stop();
    expect(health.credentials.at(-1)).toBeNull();
    expect(clock.pendingTimers).toBe(0);
  });
});

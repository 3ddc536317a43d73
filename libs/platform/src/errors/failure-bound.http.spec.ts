import { fixedClock } from '@gateway/testing';
import { startProbe, type Probe } from '../boot/probe-app.fixture.js';

describe('the log of a whole process', () => {
  const lines: string[] = [];
  let probe: Probe;
  beforeAll(async () => {
    const clock = fixedClock('2026-11-21T00:00:00Z');
    probe = await startProbe({ clock, drainGraceMs: 0, onLog: (line) => lines.push(line) });
  });
  afterAll(() => probe.close());

  it('logs ten 503s a second, whichever kind of route they come from', async () => {
    for (let round = 0; round < 10; round += 1)
      for (const path of ['/v1/away', '/v1/raw-away']) {
        const answer = await fetch(`${probe.url}${path}`);
        expect([path, answer.status]).toEqual([path, 503]);
        await answer.text();
      }
    const reported = lines.filter((line) => line.includes('a request was answered with 503'));
    expect(reported).toHaveLength(10);
    expect(reported.filter((line) => line.includes('/v1/raw-away'))).toHaveLength(5);
  });
});

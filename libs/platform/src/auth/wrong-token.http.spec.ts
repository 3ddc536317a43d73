import { fixedClock } from '@gateway/testing';
import { PROBE_FLEET_TOKEN, startProbe, type Probe } from '../boot/probe-app.fixture.js';

describe('a wrong internal token', () => {
  const clock = fixedClock('2026-11-21T00:00:00Z');
  const lines: string[] = [];
  let probe: Probe;
  beforeAll(async () => {
    probe = await startProbe({ clock, drainGraceMs: 0, onLog: (line) => lines.push(line) });
  });
  afterAll(() => probe.close());

  const call = async (token?: string): Promise<number> => {
    const headers: Record<string, string> = token === undefined ? {} : { 'x-fleet-token': token };
    return (await fetch(`${probe.url}/internal/secret`, { headers })).status;
  };
  const written = (): { route: string; count: number }[] =>
    lines
      .filter((line) => line.includes('wrong internal token'))
      .map((line) => JSON.parse(line) as { route: string; count: number });

  it('S07 stands in the log once a second with a count, without the token; to its sender the path is unknown', async () => {
    expect([await call(), await call(PROBE_FLEET_TOKEN)]).toEqual([404, 200]);
    expect(written()).toEqual([]);
    for (let n = 0; n < 3; n += 1) expect(await call('old-token-of-a-replica')).toBe(404);
    await clock.advance(1_000);
    expect(await call('old-token-of-a-replica')).toBe(404);
    expect(written().map(({ route, count }) => [route, count])).toEqual([
      ['/internal/secret', 1],
      ['/internal/secret', 3],
    ]);
    expect(lines.join('')).not.toContain('old-token');
  });
});

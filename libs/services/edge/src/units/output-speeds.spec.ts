import { OutputSpeeds } from './output-speeds.js';

const route = { provider: 'hosty', upstreamModel: 'deep' };

describe('output tokens a second of a route', () => {
  it('is 50 before it served, then the median of what it served', () => {
    const speeds = new OutputSpeeds();
    expect(speeds.of(route)).toBe(50);
    for (const tokens of [10, 1_000, 30]) speeds.add(route, tokens, 1_000);
    speeds.add(route, 1, 1);
    expect(speeds.of(route)).toBe(30);
    expect(speeds.of({ ...route, upstreamModel: 'other' })).toBe(50);
    for (let n = 0; n < 64; n += 1) speeds.add(route, 100, 500);
    expect(speeds.of(route)).toBe(200);
  });
});

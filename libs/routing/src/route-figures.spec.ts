import { FIGURE_CLASSES, type Route } from '@gateway/contracts';
import { medianOf, RouteFigureCounts } from './route-stats.js';

const route = { provider: 'p', model: 'a/m', upstreamModel: 'm' } as Route;
const other = { provider: 'q', model: 'a/m', upstreamModel: 'm' } as Route;
/** The class that a value is counted in. */
function classOf(value: number): number {
  const counts = new RouteFigureCounts();
  counts.see(route, { firstPieceMs: value, tokensPerSecond: value, isFault: false });
  const [{ latency, speed }] = counts.take();
  expect(speed).toEqual(latency);
  return latency.indexOf(1);
}
const sample = { firstPieceMs: 100, tokensPerSecond: 50, isFault: false };

describe('figures of routes', () => {
  it('counts tries, faults, and what was measured, once for each report', () => {
    const counts = new RouteFigureCounts();
    expect(counts.take()).toEqual([]);
    counts.see(route, sample);
    counts.see(route, sample);
    counts.see(route, { firstPieceMs: null, tokensPerSecond: null, isFault: true });
    counts.see(other, sample);
    const [first, second] = counts.take();
    expect(first).toMatchObject({ provider: 'p', model: 'a/m', tries: 3, faults: 1 });
    expect([first.latency[classOf(100)], first.speed[classOf(50)]]).toEqual([2, 2]);
    expect(second).toMatchObject({ provider: 'q', tries: 1, faults: 0 });
    expect(counts.take()).toEqual([]);
  });

  it('counts at most 5,000 of them', () => {
    const counts = new RouteFigureCounts();
    for (let n = 0; n < 6_000; n += 1) counts.see({ ...route, model: `a/m${n}` }, sample);
    expect(counts.take()).toHaveLength(5_000);
  });

  it.each([
    [0, 0],
    [1, 0],
    [1.3, 1],
    [2, 4],
    [100, 26],
    [2 ** 21, FIGURE_CLASSES - 1],
    [Infinity, FIGURE_CLASSES - 1],
  ])('counts %d in class %d', (value, at) => {
    expect(classOf(value)).toBe(at);
  });

  it.each([
    [[], null],
    [[250], 250],
    [[10, 1_000, 1_000, 1_000], 1_000],
    [[10, 10, 10, 1_000], 10],
    [Array.from({ length: 1_000 }, (_, n) => n + 1), 500],
  ])('knows the median to a fifth (%#)', (values, median) => {
    const classes = new Array<number>(FIGURE_CLASSES).fill(0);
    for (const value of values) classes[classOf(value)] += 1;
    const found = medianOf(classes);
    if (median === null) expect(found).toBeNull();
    else expect(Math.abs((found ?? 0) / median - 1)).toBeLessThan(0.2);
  });
});

import { Counter, Histogram, Registry } from 'prom-client';
import { counterSeries, histogramSeries } from './series.js';

const NAME = { name: 'seconds', help: 'How long.', labelNames: ['route', 'status'] };
const BOUNDS = [0.1, 1, 10];

describe('series of the hot path', () => {
  it('are bounded: past 2,000 sets of labels the others are counted together', async () => {
    const registry = new Registry();
    const count = counterSeries({ ...NAME, name: 'requests_total' }, registry);
    for (let n = 0; n < 2_100; n += 1) count(`/route-${n}`, '200').inc();
    count('/route-0', '200').inc();
    const text = await registry.metrics();
    expect(text).toContain('requests_total{route="/route-0",status="200"} 2');
    expect(text).toContain('requests_total{route="other",status="other"} 100');
    expect(text.split('\n').filter((line) => line.startsWith('requests_total{'))).toHaveLength(2_001);
  });

  it('tell what prom-client’s own metrics tell, as text and as values', async () => {
    const [ours, theirs] = [new Registry(), new Registry()];
    const count = counterSeries({ ...NAME, name: 'requests_total' }, ours);
    const observed = histogramSeries(NAME, BOUNDS, ours);
    const plainCount = new Counter({ ...NAME, name: 'requests_total', registers: [theirs] });
    const plainObserved = new Histogram({ ...NAME, buckets: BOUNDS, registers: [theirs] });
    const seen: [string, string, number][] = [
      ['/a', '200', 0.1],
      ['/a', '200', 0.2],
      ['/a', '500', 11],
      ['/b "q"', '200', 0],
    ];
    for (const [route, status, value] of seen) {
      count(route, status).inc();
      observed(route, status).observe(value);
      plainCount.inc({ route, status });
      plainObserved.observe({ route, status }, value);
    }
    const lines = async (registry: Registry): Promise<Set<string>> =>
      new Set((await registry.metrics()).split('\n').map(sorted));
    expect(await lines(ours)).toEqual(await lines(theirs));
    expect(await lines(ours)).toEqual(await lines(theirs));
    const sums = async (registry: Registry): Promise<number[]> =>
      (await registry.getMetricsAsJSON()).map(({ values }) =>
        values.reduce((sum, { value }) => sum + value, 0),
      );
    expect(await sums(ours)).toEqual(await sums(theirs));
  });

  it('are one object per set of label values', () => {
    const count = counterSeries(NAME, new Registry());
    expect(count('/a', '200')).toBe(count('/a', '200'));
    expect(count('/a', '200')).not.toBe(count('/a', '201'));
  });
});

/** The order of labels says nothing. */
function sorted(line: string): string {
  return line.replace(/\{(.*)\}/, (_, labels: string) => `{${labels.split(',').sort().join(',')}}`);
}

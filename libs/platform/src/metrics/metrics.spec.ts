import { createHistogram } from 'node:perf_hooks';
import { Metrics } from './metrics.js';

describe('the metrics of a process', () => {
  it('report the delays of the event loop since the last scrape, and keep the last ones while there are none', async () => {
    const metrics = new Metrics();
    const delays = createHistogram();
    metrics.loopDelays(delays);
    const seconds = async (part: string): Promise<number> => {
      const metric = metrics.registry.getSingleMetric(`nodejs_eventloop_lag_${part}_seconds`);
      return (await metric?.get())?.values[0].value ?? NaN;
    };
    expect(await seconds('mean')).toBe(0);
    delays.record(2_000_000);
    delays.record(2_000_000);
    expect(await seconds('p99')).toBeCloseTo(0.002, 5);
    expect(await seconds('mean')).toBeCloseTo(0.002, 5);
    delays.record(1);
    expect(await seconds('max')).toBeLessThan(0.001);
    metrics.onApplicationShutdown();
  });
});

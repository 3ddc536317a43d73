import type { MetricJson } from './messages.js';
import { mergedText } from './worker-link.js';
import { backOffMs } from './worker-back-off.js';

const gauge = (value: number, aggregator = 'average'): MetricJson => ({
  name: 'delay_seconds',
  help: 'Delay.',
  type: 'gauge',
  aggregator,
  values: [{ value, labels: { quantile: '0.99' } }],
});

describe('metrics of several workers', () => {
  it('keep each worker’s series apart, whatever a metric says about adding up', async () => {
    const text = await mergedText(
      [
        { worker: 0, metrics: [gauge(1)] },
        { worker: 1, metrics: [gauge(9, 'omit')] },
      ],
      [],
    );
    expect(text).toContain('delay_seconds{quantile="0.99",worker="0"} 1\n');
    expect(text).toContain('delay_seconds{quantile="0.99",worker="1"} 9\n');
    expect(text.match(/# TYPE delay_seconds gauge/g)).toHaveLength(1);
  });

  it('hold what the primary counts itself', async () => {
    const ofPrimary = { ...gauge(3, 'sum'), name: 'restarts_total', type: 'counter' };
    expect(await mergedText([{ worker: 0, metrics: [gauge(1)] }], [ofPrimary])).toContain(
      'restarts_total{quantile="0.99"} 3\n',
    );
  });
});

describe('the wait before a worker is started again', () => {
  it('doubles from a tenth of a second and stays at ten seconds', () => {
    expect([1, 2, 3, 7, 8, 50].map(backOffMs)).toEqual([100, 200, 400, 6_400, 10_000, 10_000]);
  });
});

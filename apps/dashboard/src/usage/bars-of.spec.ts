import { barsOf, colourOf, nameOf } from './bars-of.js';
import { metricOf } from './metrics.js';
import type { Series, SeriesValues } from './usage.queries.js';

const values = (fields: Partial<SeriesValues>): SeriesValues => ({
  requests: 0,
  errors: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  cost_usd: '0',
  latency_p50_ms: null,
  latency_p95_ms: null,
  ttft_p50_ms: null,
  ...fields,
});

const series: Series = {
  granularity: 'day',
  time_zone: 'America/Los_Angeles',
  since: '2026-10-31T07:00:00Z',
  until: '2026-11-03T08:00:00Z',
  groups: [
    { id: 'openai/gpt-5.1', label: null },
    { id: 'other', label: null },
  ],
  buckets: [
    // The clock goes back on the second day, which has 25 hours.
    { start: '2026-10-31T07:00:00Z', values: { 'openai/gpt-5.1': values({ requests: 3, cost_usd: '0.5' }) } },
    { start: '2026-11-01T07:00:00Z', values: {} },
    {
      start: '2026-11-02T08:00:00Z',
      values: { other: values({ requests: 1, prompt_tokens: 10, cached_tokens: 4 }) },
    },
  ],
  totals: {},
  total: values({ requests: 4, cost_usd: '0.5' }),
  as_of: '2026-11-03T08:00:00Z',
};

describe('the bars of a series', () => {
  it('has a bar per day of the zone, over a clock change, and nought where a group had nothing', () => {
    const bars = barsOf(series, metricOf('requests'));
    expect(bars.labels).toEqual(['31 Oct', '1 Nov', '2 Nov']);
    expect(bars.series.map(({ label, heights }) => [label, heights])).toEqual([
      ['openai/gpt-5.1', [3, 0, 0]],
      ['Other', [0, 0, 1]],
    ]);
  });

  it('measures spend by default, and the share that a cache answered', () => {
    expect(metricOf(undefined).shown(series.total)).toBe('$0.5000');
    expect(barsOf(series, metricOf('cache')).series[1].heights).toEqual([0, 0, 0.4]);
    expect(metricOf('cache').shown(values({}))).toBe('0%');
  });

  it('keeps grey for the rest and names what has no team or tag', () => {
    expect(colourOf('other', 0)).toContain('gray');
    expect(nameOf({ id: 'none', label: null })).toBe('None');
  });
});

import { barsOf, coloursOfGroups, linesOf, nameOf } from './bars-of.js';
import { filtersOf, bodyOfFilters } from '../shell/usage-filter.js';
import { markOf } from './marks.js';
import { METRICS, metricOf, SPEND, type Additive, type Level } from './metrics.js';
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

const additive = (name: string): Additive =>
  METRICS.find((one): one is Additive => one.isAdditive && one.value === name)!;
const level = (name: string): Level =>
  METRICS.find((one): one is Level => !one.isAdditive && one.value === name)!;
const nowhere = (): { to: string; search: Record<string, string> } => ({ to: '', search: {} });

describe('the bars of a series', () => {
  it('has a bar per day of the zone, over a clock change, and nought where a group had nothing', () => {
    const bars = barsOf(series, additive('requests'), nowhere);
    expect(bars.labels).toEqual(['31 Oct', '1 Nov', '2 Nov']);
    expect(bars.series.map(({ label, heights }) => [label, heights])).toEqual([
      ['openai/gpt-5.1', [3, 0, 0]],
      ['Other', [0, 0, 1]],
    ]);
  });

  it('measures spend by default, and the share that a cache answered', () => {
    expect(metricOf(undefined)).toBe(SPEND);
    expect(SPEND.shown(series.total)).toBe('$0.50');
    expect(level('cache').shown(values({}))).toBe('0%');
  });

  it('what does not add up is a line for each group, with no point where there was no value, and one of all', () => {
    const whole: Series = {
      ...series,
      buckets: series.buckets.map(({ start }, at) => ({
        start,
        values: Object.fromEntries(
          at === 1 ? [] : [['all', values({ prompt_tokens: 20, cached_tokens: 4 })]],
        ),
      })),
    };
    const lines = linesOf(series, whole, level('cache'), nowhere);
    expect(lines.series.map(({ heights }) => heights)).toEqual([
      [null, null, null],
      [null, null, 0.4],
    ]);
    expect(lines.whole).toEqual([0.2, null, 0.2]);
    expect(linesOf(series, undefined, level('cache'), nowhere).whole).toBeNull();
  });

  it('a sum is true of all groups for a metric that is called additive, and for no other', () => {
    const parts = [
      values({
        requests: 3,
        errors: 1,
        prompt_tokens: 10,
        completion_tokens: 2,
        cost_usd: '0.5',
        latency_p50_ms: 100,
      }),
      values({
        requests: 2,
        errors: 2,
        prompt_tokens: 10,
        cached_tokens: 10,
        cost_usd: '0.25',
        latency_p50_ms: 300,
      }),
    ];
    // The median of all lies between those of the parts.
    const all = values({
      requests: 5,
      errors: 3,
      prompt_tokens: 20,
      completion_tokens: 2,
      cached_tokens: 10,
      cost_usd: '0.75',
      latency_p50_ms: 180,
    });
    const addsUp = METRICS.map(({ value, height }) => [
      value,
      parts.reduce((sum, part) => sum + (height(part) ?? 0), 0) === height(all),
    ]);
    expect(addsUp).toEqual(METRICS.map(({ value, isAdditive }) => [value, isAdditive]));
  });

  it('keeps grey for the rest and names what has no team or tag', () => {
    const groups = [{ id: 'other', label: null }];
    expect(coloursOfGroups({ groups }).get('other')).toContain('gray');
    expect(nameOf({ id: 'none', label: null })).toBe('None');
  });
});

describe('where a mark of usage leads', () => {
  const at = (
    url: Record<string, string>,
    group: string | null,
    bucket: number | null,
    groupBy = 'model',
  ): string => {
    const { to, search } = markOf({ slug: 'org_1', url, series, groupBy }, group, bucket);
    const text = Object.entries(search).map(([name, value]) => `${name}=${value}`);
    return `${to.replace('/o/org_1', '')}?${text.join('&')}`;
  };

  it.each<[string, Parameters<typeof at>, string]>([
    [
      'a model of a day: its requests of that day, which has 25 hours',
      [{}, 'openai/gpt-5.1', 1],
      '/requests?from=2026-11-01&to=2026-11-01&zone=America/Los_Angeles&model=openai/gpt-5.1',
    ],
    ['a key of the range', [{ range: '30d' }, 'key_1', null, 'key'], '/requests?range=30d&key_id=key_1'],
    ['a sum of the default range, which is not that of Requests', [{}, null, null], '/requests?range=7d'],
    [
      'a sum of a zone that was chosen',
      [{ range: '24h', zone: 'Asia/Kolkata' }, null, null],
      '/requests?zone=Asia/Kolkata',
    ],
    ['a sum of the default range of Requests', [{ range: '24h' }, null, null], '/requests?'],
    [
      'errors: those that failed',
      [{ metric: 'errors' }, 'm', null],
      '/requests?range=7d&model=m&show=failed',
    ],
    ['the status of failures', [{}, 'error', null, 'status'], '/requests?range=7d&show=failed'],
    [
      'what Requests cannot be asked for: the usage of just that',
      [{ metric: 'tokens', by: 'member' }, 'usr_1', 0, 'member'],
      '/usage?from=2026-10-31&to=2026-10-31&zone=America/Los_Angeles&member_id=usr_1&metric=tokens',
    ],
    ['successes alone', [{ by: 'status' }, 'success', null, 'status'], '/usage?status=success'],
    [
      'the rest, which no filter has: that day in the same groups',
      [{ by: 'key' }, 'other', 2, 'key'],
      '/usage?from=2026-11-02&to=2026-11-02&zone=America/Los_Angeles&by=key',
    ],
    [
      'within a filter: that as well',
      [{ team_id: 'team_1', from: '2026-10-31', to: '2026-11-02' }, 'm', null],
      '/usage?from=2026-10-31&to=2026-11-02&zone=America/Los_Angeles&team_id=team_1&model=m',
    ],
  ])('%s', (_, asked, address) => {
    expect(at(...asked)).toBe(address);
  });

  it('is an hour of its own, from where the range begins', () => {
    const hours = {
      ...series,
      granularity: 'hour' as const,
      since: '2026-11-01T08:20:00.000Z',
      // One o'clock comes twice in that night.
      buckets: [
        { start: '2026-11-01T08:00:00.000Z', values: {} },
        { start: '2026-11-01T09:00:00.000Z', values: {} },
      ],
    };
    const spans = [0, 1].map((bucket) =>
      markOf({ slug: 'org_1', url: {}, series: hours, groupBy: 'model' }, null, bucket),
    );
    expect(spans.map(({ search }) => search)).toEqual([
      { from: '2026-11-01T08:20Z', to: '2026-11-01T09:00Z', zone: 'America/Los_Angeles' },
      { from: '2026-11-01T09:00Z', to: '2026-11-01T10:00Z', zone: 'America/Los_Angeles' },
    ]);
  });

  it('has filters of the address by their names in the API, and no others', () => {
    const filters = filtersOf({ model: 'm', key_id: 'key_1', range: '7d', by: 'key', team_id: '' });
    expect(bodyOfFilters({ ...filters, status: 'error' })).toEqual({
      model: ['m'],
      status: ['error'],
      key_id: 'key_1',
    });
  });
});

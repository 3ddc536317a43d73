import {
  Counter,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from 'prom-client';

/** Sets of label values that one metric keeps apart; a catalogue may grow, what is scraped may not. */
const SERIES_MAX = 2_000;
const OTHERS = '\n';

/** The name of a metric, in prom-client's form. */
export interface MetricName {
  name: string;
  help: string;
  labelNames: readonly string[];
}

/** A number that only grows. */
export class Tally {
  value = 0;

  inc(by = 1): void {
    this.value += by;
  }
}

/** Observations of one series, by bucket. */
export class Spread {
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.sum += value;
    this.count += 1;
    for (let at = 0; at < this.bounds.length; at += 1) {
      if (value > this.bounds[at]) continue;
      this.counts[at] += 1;
      return;
    }
  }
}

/** The series of a set of label values, made on first use. Asks for as many values as the metric has labels. */
export type SeriesOf<S> = (...values: string[]) => S;

type Labels = Record<string, string | number>;
type NamedValue = MetricValue<string> & { metricName: string };
type Reported = MetricObjectWithValues<NamedValue>;

/**
 * prom-client hashes the labels at every count, which on the hot path costs more than all the counting. So the numbers
 * are kept here, one object per series, and it is given them when it is scraped.
 */
class SeriesCache<S> {
  readonly known = new Map<string, { labels: Labels; series: S }>();

  constructor(
    private readonly labelNames: readonly string[],
    private readonly make: () => S,
  ) {}

  of(values: readonly string[]): S {
    const id = values.length === 1 ? values[0] : values.join('\n');
    const found = this.known.get(id);
    if (found !== undefined) return found.series;
    if (this.known.size >= SERIES_MAX) return this.rest().series;
    const labels = Object.fromEntries(this.labelNames.map((name, at) => [name, values[at]]));
    const series = this.make();
    this.known.set(id, { labels, series });
    return series;
  }

  /** Returns the series that counts all others. */
  private rest(): { series: S } {
    const labels = Object.fromEntries(this.labelNames.map((name) => [name, 'other']));
    const rest = this.known.get(OTHERS) ?? { labels, series: this.make() };
    this.known.set(OTHERS, rest);
    return rest;
  }
}

export function counterSeries({ name, help, labelNames }: MetricName, registry: Registry): SeriesOf<Tally> {
  const cache = new SeriesCache(labelNames, () => new Tally());
  new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect() {
      this.reset();
      for (const { labels, series } of cache.known.values()) this.inc(labels, series.value);
    },
  });
  return (...values) => cache.of(values);
}

export function histogramSeries(
  name: MetricName,
  bounds: readonly number[],
  registry: Registry,
): SeriesOf<Spread> {
  const cache = new SeriesCache(name.labelNames, () => new Spread(bounds));
  new CachedHistogram(name, bounds, registry, cache);
  return (...values) => cache.of(values);
}

class CachedHistogram extends Histogram {
  /** Says what a histogram of this name looks like; it holds no values. */
  private readonly empty: Histogram;

  constructor(
    private readonly metric: MetricName,
    private readonly bounds: readonly number[],
    registry: Registry,
    private readonly cache: SeriesCache<Spread>,
  ) {
    const { name, help, labelNames } = metric;
    const options = { name, help, labelNames: [...labelNames], buckets: [...bounds] };
    super({ ...options, registers: [registry] });
    this.empty = new Histogram({ ...options, registers: [] });
  }

  override async get(): Promise<Reported> {
    const values = [...this.cache.known.values()].flatMap(({ labels, series }) =>
      this.reported(labels, series),
    );
    return { ...(await this.empty.get()), values };
  }

  /** Returns the values that the registry asks for where it writes text; prom-client's types do not show it. */
  getForPromString(): Promise<Reported> {
    return this.get();
  }

  private reported(labels: Labels, { counts, sum, count }: Spread): NamedValue[] {
    const { name } = this.metric;
    let below = 0;
    const buckets = this.bounds.map((bound, at) => {
      below += counts[at];
      return { labels: { ...labels, le: bound }, value: below, metricName: `${name}_bucket` };
    });
    return [
      ...buckets,
      { labels: { ...labels, le: '+Inf' }, value: count, metricName: `${name}_bucket` },
      { labels, value: sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ];
  }
}

import {
  Counter,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  type Registry,
} from 'prom-client';

/** Sets of label values that one metric keeps apart; a catalogue may grow, what is scraped may not. */
const SERIES_MAX = 2_000;

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

interface Branch<S> {
  next: Map<string, Branch<S>>;
  series: S | null;
}

function newBranch<S>(): Branch<S> {
  return { next: new Map(), series: null };
}

/**
 * prom-client hashes the labels at every count, which on the hot path costs more than all the counting. So the numbers
 * are kept here, one object per series, and it is given them when it is scraped.
 */
class SeriesCache<S> {
  readonly known: { labels: Labels; series: S }[] = [];
  /** The series by one label after the other: a text of all values would be made, and hashed, at every count. */
  private readonly root: Branch<S> = newBranch();
  private rest: S | null = null;

  constructor(
    private readonly labelNames: readonly string[],
    private readonly make: () => S,
  ) {}

  of(values: readonly string[]): S {
    let branch: Branch<S> | undefined = this.root;
    for (let at = 0; at < values.length; at += 1) {
      branch = branch.next.get(values[at]);
      if (branch === undefined) break;
    }
    return branch?.series ?? this.added(values);
  }

  /** Returns a new series; above the bound the one that counts all others. */
  private added(values: readonly string[]): S {
    if (this.known.length >= SERIES_MAX) return (this.rest ??= this.made(() => 'other'));
    let branch = this.root;
    for (const value of values) {
      const next = branch.next.get(value) ?? newBranch();
      branch.next.set(value, next);
      branch = next;
    }
    return (branch.series = this.made((at) => values[at]));
  }

  private made(valueOf: (at: number) => string): S {
    const labels = Object.fromEntries(this.labelNames.map((name, at) => [name, valueOf(at)]));
    const series = this.make();
    this.known.push({ labels, series });
    return series;
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
      for (const { labels, series } of cache.known) this.inc(labels, series.value);
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
    const values = this.cache.known.flatMap(({ labels, series }) => this.reported(labels, series));
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

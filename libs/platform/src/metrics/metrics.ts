import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { RecordableHistogram } from 'node:perf_hooks';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { counterSeries, histogramSeries, type SeriesOf, type Spread, type Tally } from './series.js';

/** The longest time that a timer takes. */
const NEVER_MS = 2 ** 31 - 1;

const LOOP_DELAYS: [part: string, of: (delays: RecordableHistogram) => number][] = [
  ['min', ({ min }) => min],
  ['max', ({ max }) => max],
  ['mean', ({ mean }) => mean],
  ['stddev', ({ stddev }) => stddev],
  ['p50', (delays) => delays.percentile(50)],
  ['p90', (delays) => delays.percentile(90)],
  ['p99', (delays) => delays.percentile(99)],
];

/**
 * The process's Prometheus registry with its golden signals: requests by route and status with their duration and
 * requests in flight (boot/request-hooks.ts), and Node's own figures (event-loop delay, garbage collection, memory).
 * One instance per application, so that tests do not share counters.
 */
@Injectable()
export class Metrics implements OnApplicationShutdown {
  readonly registry = new Registry();

  constructor() {
    // Its own monitor of the event loop would wake a process at rest 100 times a second: `loopDelays` reports instead.
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: NEVER_MS });
  }

  /** A counter for the hot path: its series are found by their label values. */
  counter(name: string, help: string, labelNames: readonly string[]): SeriesOf<Tally> {
    return counterSeries({ name, help, labelNames }, this.registry);
  }

  /** A histogram for the hot path; `bounds` ascend, in the unit of the name. */
  histogram(
    name: string,
    help: string,
    labelNames: readonly string[],
    bounds: readonly number[],
  ): SeriesOf<Spread> {
    return histogramSeries({ name, help, labelNames }, bounds, this.registry);
  }

  /** Returns the answer to a scrape, in Prometheus's text format. */
  scrape(): Promise<string> {
    return this.registry.metrics();
  }

  /** Registers a number that only grows, read when the metrics are scraped. */
  total(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** Registers a value that is read when the metrics are scraped. */
  gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.registry],
      collect() {
        this.set(read());
      },
    });
  }

  /** One value per set of labels, read when the metrics are scraped; a set that is no longer reported is gone. */
  gauges<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: () => readonly { labels: Record<L, string>; value: number }[],
  ): void {
    new Gauge<L>({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const { labels, value } of read()) this.set(labels, value);
      },
    });
  }

  /** Reports the delays of the event loop since the last scrape, given in nanoseconds, under the names of prom-client. */
  loopDelays(delays: RecordableHistogram): void {
    const gauges: [gauge: Gauge, of: (delays: RecordableHistogram) => number][] = [];
    // The first of them that is scraped sets all.
    const collect = (): void => {
      if (delays.count === 0) return;
      for (const [gauge, of] of gauges) gauge.set(of(delays) / 1e9);
      delays.reset();
    };
    for (const [part, of] of LOOP_DELAYS) {
      const name = `nodejs_eventloop_lag_${part}_seconds`;
      this.registry.removeSingleMetric(name);
      const help = `Delays of the event loop since the last scrape: ${part}.`;
      gauges.push([new Gauge({ name, help, registers: [this.registry], collect }), of]);
    }
  }

  onApplicationShutdown(): void {
    this.registry.clear();
  }
}

import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * The process's Prometheus registry with its golden signals: requests by route and status with their duration,
 * requests in flight, and Node's own figures (event-loop delay, garbage collection, memory).
 * One instance per application, so that tests do not share counters.
 */
@Injectable()
export class Metrics implements OnApplicationShutdown {
  readonly registry = new Registry();
  private readonly duration: Histogram;
  /** prom-client finds a series by hashing its labels; on the hot path that costs more than the counting. */
  private readonly series = new Map<string, Histogram.Internal<string>>();

  constructor() {
    collectDefaultMetrics({ register: this.registry });
    this.duration = new Histogram({
      name: 'gateway_http_request_duration_seconds',
      help: 'Requests by route and status; the count of it is the number of requests.',
      labelNames: ['method', 'route', 'status'],
      buckets: SECONDS_BUCKETS,
      registers: [this.registry],
    });
  }

  /** `route` is the pattern, never the path: a label has few values. */
  requestEnded(method: string, route: string, status: number, seconds: number): void {
    const name = `${method} ${route} ${status}`;
    let series = this.series.get(name);
    if (series === undefined) {
      series = this.duration.labels(method, route, String(status));
      this.series.set(name, series);
    }
    series.observe(seconds);
  }

  /** Read when the metrics are scraped. */
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

  /** One value per set of labels, read when the metrics are scraped; a set that is no longer told is gone. */
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

  onApplicationShutdown(): void {
    this.registry.clear();
  }
}

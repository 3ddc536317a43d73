import { Registry } from 'prom-client';

/** The process's Prometheus registry. One instance per application, so that tests do not share counters. */
export class Metrics {
  readonly registry = new Registry();
}

import { Counter, Gauge } from 'prom-client';
import type { Metrics } from '@gateway/platform';

/** Lag and failures of the Kafka consumers of a process. One per process. */
export class ConsumerLag {
  private readonly lag: Gauge;
  private readonly faults: Counter;

  constructor({ registry }: Metrics) {
    this.lag = new Gauge({
      name: 'gateway_consumer_lag_records',
      help: 'Records of a partition that its consumer has not handled, as of its last fetch that brought any.',
      labelNames: ['group', 'topic', 'partition'],
      registers: [registry],
    });
    this.faults = new Counter({
      name: 'gateway_event_log_faults_total',
      help: 'Failures of handlers and of connections to Kafka; each is tried again.',
      registers: [registry],
    });
  }

  /** Groups that live for one process have a random name: they are left out. */
  behind(group: string, topic: string, partition: number, records: number): void {
    if (!group.startsWith('catalogue-reader-'))
      this.lag.set({ group, topic, partition: String(partition) }, records);
  }

  failed(): void {
    this.faults.inc();
  }
}

import { Injectable } from '@nestjs/common';
import { Metrics } from '@gateway/platform';
import { Counter, Gauge } from 'prom-client';

/** A read that a replica may answer, by who did. */
export type AnsweredBy = 'replica' | 'primary_replica_behind' | 'primary_replica_failed';

/** Figures of the read replica, on the process's registry. */
@Injectable()
export class ReplicaMetrics {
  private readonly reads: Counter;
  private readonly lag: Gauge;

  constructor({ registry }: Metrics) {
    const registers = [registry];
    this.reads = new Counter({
      name: 'gateway_usage_replica_reads_total',
      help: 'Reads that a read replica may answer, by who answered.',
      labelNames: ['answered_by'],
      registers,
    });
    this.lag = new Gauge({
      name: 'gateway_usage_replica_lag_seconds',
      help: 'Age of the newest beat that has reached the read replica, as of the last look.',
      registers,
    });
  }

  answered(by: AnsweredBy): void {
    this.reads.inc({ answered_by: by });
  }

  behind(lagMs: number): void {
    this.lag.set(lagMs / 1_000);
  }
}

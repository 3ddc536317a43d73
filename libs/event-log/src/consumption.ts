import type { ConsumedRecord } from '@gateway/contracts';
import { Counter, Gauge } from 'prom-client';
import type { Metrics } from '@gateway/platform';

/** Counts of what the services of a process have consumed, for its metrics. One per process. */
export class Consumption {
  private readonly records: Counter;
  private readonly offset: Gauge;

  constructor({ registry }: Metrics) {
    this.records = new Counter({
      name: 'gateway_consumed_records_total',
      help: 'Records that a service has handled; dead ones went to the dead letters of the topic, unknown ones are of a newer release.',
      labelNames: ['service', 'topic', 'outcome'],
      registers: [registry],
    });
    this.offset = new Gauge({
      name: 'gateway_consumed_offset',
      help: 'Offset of the last record that a service has handled.',
      labelNames: ['service', 'topic', 'partition'],
      registers: [registry],
    });
  }

  /** Counts a batch of one topic, with how many of its records were dead letters or unknown to this release. */
  handled(
    service: string,
    batch: readonly ConsumedRecord[],
    { dead, unknown }: { dead: number; unknown: number },
  ): void {
    for (const { topic, partition, offset } of lastOfEach(batch))
      this.offset.set({ service, topic, partition: String(partition) }, Number(offset));
    if (batch.length === 0) return;
    const [{ topic }] = batch;
    this.records.inc({ service, topic, outcome: 'handled' }, batch.length - dead - unknown);
    this.records.inc({ service, topic, outcome: 'dead' }, dead);
    this.records.inc({ service, topic, outcome: 'unknown' }, unknown);
  }
}

function lastOfEach(batch: readonly ConsumedRecord[]): Iterable<ConsumedRecord> {
  const last = new Map<number, ConsumedRecord>();
  for (const record of batch) last.set(record.partition, record);
  return last.values();
}

import type { CloudEvent, ConsumedRecord } from '@gateway/contracts';
import { Counter, Gauge } from 'prom-client';
import type { Metrics } from '@gateway/platform';

const RECORDS = 'gateway_consumed_records_total';
const OFFSET = 'gateway_consumed_offset';

/** What one service has consumed, in the process's metrics: records by topic and how far it is in each partition. */
export class Consumption {
  private readonly records: Counter;
  private readonly offset: Gauge;

  constructor(
    { registry }: Metrics,
    private readonly service: string,
  ) {
    // Services in one process share the registry: the first of them makes the two metrics.
    const known = registry.getSingleMetric(RECORDS);
    this.records =
      known instanceof Counter
        ? known
        : new Counter({
            name: RECORDS,
            help: 'Records that a service has handled; unreadable ones were passed over.',
            labelNames: ['service', 'topic', 'outcome'],
            registers: [registry],
          });
    const position = registry.getSingleMetric(OFFSET);
    this.offset =
      position instanceof Gauge
        ? position
        : new Gauge({
            name: OFFSET,
            help: 'Offset of the last record that a service has handled.',
            labelNames: ['service', 'topic', 'partition'],
            registers: [registry],
          });
  }

  /** Call it when the record is handled, or passed over because it cannot be read. */
  handled({ topic, partition, offset }: ConsumedRecord, outcome: 'handled' | 'unreadable'): void {
    const { service } = this;
    this.records.inc({ service, topic, outcome });
    this.offset.set({ service, topic, partition: String(partition) }, Number(offset));
  }
}

/** The event in a record; null where it is not a CloudEvent of its topic. Its `data` is not checked. */
export function eventOf({ topic, value }: ConsumedRecord): CloudEvent<unknown> | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    return null;
  }
  return isEvent(parsed) && parsed.type === topic ? parsed : null;
}

function isEvent(value: unknown): value is CloudEvent<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const { specversion, id, source, type, data } = value as Readonly<Record<string, unknown>>;
  const isNamed = typeof id === 'string' && typeof source === 'string' && typeof type === 'string';
  return specversion === '1.0' && isNamed && typeof data === 'object' && data !== null;
}

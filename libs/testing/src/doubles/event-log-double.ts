import { EventLog, type Consumer, type LogRecord, type Subscription } from '@gateway/contracts';

/** Keeps what is appended. It delivers nothing by itself: a test hands batches to the subscriptions it finds here. */
export class EventLogDouble extends EventLog {
  readonly appended: { topic: string; record: LogRecord }[] = [];
  readonly subscriptions: Subscription[] = [];

  async append(topic: string, records: LogRecord[]): Promise<void> {
    for (const record of records) this.appended.push({ topic, record });
  }

  async consume(subscription: Subscription): Promise<Consumer> {
    this.subscriptions.push(subscription);
    return { stop: async () => undefined };
  }

  async close(): Promise<void> {}

  /** The data of the events of one topic, oldest first. */
  dataOf<T = Record<string, unknown>>(topic: string): T[] {
    const records = this.appended.filter((entry) => entry.topic === topic);
    return records.map(({ record }) => (JSON.parse(record.value) as { data: T }).data);
  }
}

import { EventLog, type Consumer, type LogRecord, type Subscription } from '@gateway/contracts';
import type { TestKafka } from '../test-kafka.js';

/** A log on the shared broker whose topics and groups carry the prefix of a test file; the service does not see it. */
export class PrefixedEventLog extends EventLog {
  constructor(
    private readonly log: EventLog,
    private readonly kafka: Pick<TestKafka, 'topic' | 'prefix'>,
  ) {
    super();
  }

  append(topic: string, records: LogRecord[]): Promise<void> {
    return this.log.append(this.kafka.topic(topic), records);
  }

  consume(subscription: Subscription): Promise<Consumer> {
    const { kafka } = this;
    return this.log.consume({
      ...subscription,
      topics: subscription.topics.map((topic) => kafka.topic(topic)),
      group: kafka.topic(subscription.group),
      handler: (batch) => {
        const own = batch.map((record) => ({ ...record, topic: record.topic.slice(kafka.prefix.length) }));
        return subscription.handler(own);
      },
    });
  }

  close(): Promise<void> {
    return this.log.close();
  }
}

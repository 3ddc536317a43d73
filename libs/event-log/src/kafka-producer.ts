import type { Clock, LogRecord } from '@gateway/contracts';
import kafkajs from 'kafkajs';
import { KafkaAppender } from './kafka-appender.js';
import { within } from './within.js';

const CONNECT_TIMEOUT_MS = 10_000;

/** Appends to topics that exist already: a misspelt one is an error. */
export class KafkaProducer {
  private readonly producer: kafkajs.Producer;
  private readonly appenders = new Map<string, KafkaAppender>();
  private connecting: Promise<void> | null = null;

  constructor(
    kafka: kafkajs.Kafka,
    private readonly clock: Clock,
  ) {
    this.producer = kafka.producer({
      // kafkajs's idempotent mode sends one request at a time per broker; consumers here are idempotent by id.
      idempotent: false,
      allowAutoTopicCreation: false,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 4 },
    });
  }

  /** Resolves when all replicas have the records. */
  async append(topic: string, records: LogRecord[]): Promise<void> {
    if (records.length === 0) return;
    await this.connected();
    let appender = this.appenders.get(topic);
    if (appender === undefined) {
      appender = new KafkaAppender(topic, this.producer, this.clock);
      this.appenders.set(topic, appender);
    }
    await appender.append(records);
  }

  /** Rejects where the brokers cannot be left in time. */
  async close(): Promise<void> {
    await Promise.all([...this.appenders.values()].map((appender) => appender.drained()));
    await within(this.producer.disconnect(), { clock: this.clock, timeoutMs: CONNECT_TIMEOUT_MS });
  }

  /** The producer finds lost brokers again by itself; only the first connection may have to be tried again. */
  private async connected(): Promise<void> {
    this.connecting ??= this.producer.connect().catch((error: unknown) => {
      this.connecting = null;
      throw error;
    });
    await within(this.connecting, { clock: this.clock, timeoutMs: CONNECT_TIMEOUT_MS });
  }
}

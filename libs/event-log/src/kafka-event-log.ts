import './kafka-checksum.js';
import {
  EventLog,
  type Clock,
  type Consumer,
  type LogRecord,
  type Random,
  type Subscription,
} from '@gateway/contracts';
import kafkajs from 'kafkajs';
import { backOffMs } from './back-off.js';
import { kafkaClient, type KafkaOptions } from './kafka-client.js';
import { KafkaConsumer } from './kafka-consumer.js';
import { KafkaProducer } from './kafka-producer.js';

export interface KafkaEventLogOptions extends KafkaOptions {
  clock: Clock;
  random: Random;
  /** Each failure of a handler or of a consumer's connection. */
  onFault?: (error: unknown) => void;
  /** Receives the number of records of a partition that a group has not handled yet, as of its last fetch. */
  onLag?: (group: string, topic: string, partition: number, records: number) => void;
  stopTimeoutMs?: number;
  sessionTimeoutMs?: number;
  /**
   * Time that `consume` waits until it is a member of its group; not at all by default. It goes on trying afterwards.
   */
  startWaitMs?: number;
}

const STOP_TIMEOUT_MS = 30_000;
const SESSION_TIMEOUT_MS = 30_000;

/** Kafka through kafkajs. Topics exist already (deploy/kafka/topics.yaml): a misspelt one is an error. */
export class KafkaEventLog extends EventLog {
  private readonly kafka: kafkajs.Kafka;
  private readonly producer: KafkaProducer;
  private readonly consumers = new Set<KafkaConsumer>();
  private isClosed = false;

  constructor(private readonly options: KafkaEventLogOptions) {
    super();
    this.kafka = kafkaClient(options);
    this.producer = new KafkaProducer(this.kafka, options.clock);
  }

  async append(topic: string, records: LogRecord[]): Promise<void> {
    if (this.isClosed) throw new Error('The event log is closed.');
    await this.producer.append(topic, records);
  }

  async consume(subscription: Subscription): Promise<Consumer> {
    if (this.isClosed) throw new Error('The event log is closed.');
    const { clock, random, onFault, onLag } = this.options;
    const { group } = subscription;
    const consumer = new KafkaConsumer(subscription, {
      kafka: this.kafka,
      clock,
      backOffMs: (failures) => backOffMs(failures, random),
      onFault: (error) => onFault?.(error),
      onLag: (topic, partition, records) => onLag?.(group, topic, partition, records),
      stopTimeoutMs: this.options.stopTimeoutMs ?? STOP_TIMEOUT_MS,
      sessionTimeoutMs: this.options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS,
      startWaitMs: this.options.startWaitMs ?? 0,
    });
    this.consumers.add(consumer);
    await consumer.start();
    return {
      stop: async () => {
        this.consumers.delete(consumer);
        await consumer.stop();
      },
    };
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await Promise.all([...this.consumers].map((consumer) => consumer.stop()));
    await this.producer.close().catch((error: unknown) => this.options.onFault?.(error));
  }
}

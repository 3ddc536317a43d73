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
import { KafkaAppender } from './kafka-appender.js';
import { kafkaClient, type KafkaOptions } from './kafka-client.js';
import { KafkaConsumer } from './kafka-consumer.js';
import { within } from './within.js';

export interface KafkaEventLogOptions extends KafkaOptions {
  clock: Clock;
  random: Random;
  /** Each failure of a handler or of a consumer's connection. */
  onFault?: (error: unknown) => void;
  /** How many records of a partition a group has not handled yet, as of its last fetch. */
  onLag?: (group: string, topic: string, partition: number, records: number) => void;
  stopTimeoutMs?: number;
  sessionTimeoutMs?: number;
  /** How long `consume` waits until it is a member of its group; not at all by default. It goes on trying afterwards. */
  startWaitMs?: number;
}

const STOP_TIMEOUT_MS = 30_000;
const SESSION_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;

/** Kafka through kafkajs. Topics exist already (deploy/kafka/topics.yaml): a misspelt one is an error. */
export class KafkaEventLog extends EventLog {
  private readonly kafka: kafkajs.Kafka;
  private readonly producer: kafkajs.Producer;
  private readonly appenders = new Map<string, KafkaAppender>();
  private readonly consumers = new Set<KafkaConsumer>();
  private connecting: Promise<void> | null = null;
  private isClosed = false;

  constructor(private readonly options: KafkaEventLogOptions) {
    super();
    this.kafka = kafkaClient(options);
    this.producer = this.kafka.producer({
      // kafkajs's idempotent mode sends one request at a time per broker; consumers here are idempotent by id.
      idempotent: false,
      allowAutoTopicCreation: false,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 4 },
    });
  }

  async append(topic: string, records: LogRecord[]): Promise<void> {
    if (this.isClosed) throw new Error('The event log is closed.');
    if (records.length === 0) return;
    await this.connected();
    let appender = this.appenders.get(topic);
    if (appender === undefined) {
      appender = new KafkaAppender(topic, this.producer, this.options.clock);
      this.appenders.set(topic, appender);
    }
    await appender.append(records);
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
    await Promise.all([...this.appenders.values()].map((appender) => appender.drained()));
    const { clock, onFault } = this.options;
    await within(this.producer.disconnect(), { clock, timeoutMs: CONNECT_TIMEOUT_MS }).catch(
      (error: unknown) => onFault?.(error),
    );
  }

  /** The producer finds lost brokers again by itself; only the first connection may have to be tried again. */
  private async connected(): Promise<void> {
    this.connecting ??= this.producer.connect().catch((error: unknown) => {
      this.connecting = null;
      throw error;
    });
    await within(this.connecting, { clock: this.options.clock, timeoutMs: CONNECT_TIMEOUT_MS });
  }
}

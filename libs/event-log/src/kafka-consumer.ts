import './kafka-checksum.js';
import type { Clock, ConsumedRecord, Consumer, Subscription } from '@gateway/contracts';
import kafkajs from 'kafkajs';
import { BatchCollector, CollectorStopped } from './batch-collector.js';
import { within } from './within.js';

export interface KafkaConsumerDeps {
  kafka: kafkajs.Kafka;
  clock: Clock;
  backOffMs: (failures: number) => number;
  onFault: (error: unknown) => void;
  /** Called with each fetch, and when it was handled, how many records of the partition are left. */
  onLag?: (topic: string, partition: number, records: number) => void;
  stopTimeoutMs: number;
  /** Time without a heartbeat after which the group gives a consumer's partitions to others. */
  sessionTimeoutMs: number;
  /** Time that a start waits for the group. */
  startWaitMs: number;
}

/** Time that the broker holds a fetch that finds nothing; it answers at once when something comes. */
const FETCH_WAIT_MS = 1_000;
/**
 * Pause after a fetch that took everything, so that the next brings many records: each costs us and the broker the
 * same.
 */
const FETCH_PAUSE_MS = 100;
const PARTITION_BYTES_MAX = 1_048_576;
const FETCH_BYTES_MAX = 8_388_608;
/** More than the partitions of any topic: each waits for the one collector, not for the others. */
const PARTITIONS_AT_ONCE = 64;
const START_TIMEOUT_MS = 30_000;

/** One member of a Kafka consumer group. Survives brokers that go and come; ends only by stop. */
export class KafkaConsumer implements Consumer {
  private collector: BatchCollector | null = null;
  private consumer: kafkajs.Consumer | null = null;
  private restarting: Promise<void> | null = null;
  private isDown = false;
  private readonly stopping = new AbortController();

  constructor(
    private readonly subscription: Subscription,
    private readonly deps: KafkaConsumerDeps,
  ) {}

  /** Resolves when it runs, or after `startWaitMs`: joining a group must not hold up a service, which goes on trying. */
  async start(): Promise<void> {
    const { clock, startWaitMs } = this.deps;
    const started = within(this.connect(), { clock, timeoutMs: START_TIMEOUT_MS }).catch((error: unknown) => {
      if (this.stopping.signal.aborted) return;
      this.deps.onFault(error);
      this.restart();
    });
    const wait = new AbortController();
    await Promise.race([started, clock.sleep(startWaitMs, wait.signal).catch(() => undefined)]);
    wait.abort();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.restarting;
    const { clock, stopTimeoutMs } = this.deps;
    const { collector, consumer } = this;
    if (collector)
      await within(collector.stop(), { clock, timeoutMs: stopTimeoutMs }).catch(() => collector.abandon());
    // Leaving the group lets the others have its partitions at once; a broker that is away must not hold us up.
    if (consumer)
      await within(consumer.disconnect(), { clock, timeoutMs: stopTimeoutMs }).catch(this.deps.onFault);
  }

  private async connect(): Promise<void> {
    const { kafka, clock, backOffMs, onFault, sessionTimeoutMs } = this.deps;
    const consumer = kafka.consumer({
      groupId: this.subscription.group,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: Math.ceil(sessionTimeoutMs / 10),
      rebalanceTimeout: 2 * sessionTimeoutMs,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      maxBytesPerPartition: PARTITION_BYTES_MAX,
      maxBytes: FETCH_BYTES_MAX,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 2_000, retries: 10, restartOnFailure: async () => true },
    });
    const collector = new BatchCollector(this.subscription, {
      clock,
      commit: (batch) => consumer.commitOffsets(offsetsAfter(batch)),
      backOffMs,
      onFault,
    });
    this.consumer = consumer;
    this.collector = collector;
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      if (this.consumer !== consumer) return; // It was given up already.
      onFault(payload.error);
      // The client starts again by itself after some faults; after the others we do.
      if (!payload.restart) this.restart();
    });
    await consumer.connect();
    await consumer.subscribe({ topics: this.subscription.topics, fromBeginning: true });
    // It may have been stopped while no broker answered.
    if (this.stopping.signal.aborted) return consumer.disconnect();
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: PARTITIONS_AT_ONCE,
      eachBatch: (payload) => this.takeBatch(payload, collector),
    });
  }

  /**
   * One fetch of one partition: to the collector, with heartbeats until that has room. kafkajs fetches again only after
   * this, so that it does not wait for the handler. After a rebalance what was not committed comes again, here or to
   * another member, though it is handled here, too: dropping it could race with kafkajs's place of the next fetch.
   */
  private async takeBatch(payload: kafkajs.EachBatchPayload, collector: BatchCollector): Promise<void> {
    const { topic, partition, messages } = payload.batch;
    const records = messages.map(({ offset, key, value, headers }) => ({
      topic,
      partition,
      offset,
      key: key?.toString() ?? '',
      value: value?.toString() ?? '',
      ...traceOf(headers),
    }));
    if (records.length === 0) return;
    const left = Number(payload.batch.offsetLag());
    this.deps.onLag?.(topic, partition, left + records.length);
    let isTaken = false;
    const taken = collector
      .add(records, () => this.deps.onLag?.(topic, partition, left))
      .finally(() => (isTaken = true));
    taken.catch(() => undefined); // It is awaited below, after the heartbeat that may fail first.
    try {
      while (!isTaken) {
        const beat = new AbortController();
        const pause = this.deps.clock
          .sleep(this.deps.sessionTimeoutMs / 10, beat.signal)
          .catch(() => undefined);
        await Promise.race([taken.catch(() => undefined), pause]);
        beat.abort();
        if (!isTaken) await payload.heartbeat();
      }
      await taken;
      payload.resolveOffset(records[records.length - 1].offset);
      if (left === 0)
        await this.deps.clock.sleep(FETCH_PAUSE_MS, this.stopping.signal).catch(() => undefined);
    } catch (error) {
      collector.drop(records);
      if (!(error instanceof CollectorStopped)) throw error;
    }
  }

  private restart(): void {
    this.isDown = true;
    if (!this.stopping.signal.aborted) this.restarting ??= this.reconnect();
  }

  private async reconnect(): Promise<void> {
    const { clock, backOffMs, onFault, stopTimeoutMs } = this.deps;
    const { signal } = this.stopping;
    // A crash may also come while the new connection is being made.
    for (let failures = 1; this.isDown && !signal.aborted; failures += 1) {
      const { consumer, collector } = this;
      this.consumer = null;
      collector?.abandon();
      if (consumer) await within(consumer.disconnect(), { clock, timeoutMs: stopTimeoutMs }).catch(onFault);
      await clock.sleep(backOffMs(failures), signal).catch(() => undefined);
      if (signal.aborted) break;
      this.isDown = false;
      await within(this.connect(), { clock, timeoutMs: START_TIMEOUT_MS }).catch((error: unknown) => {
        onFault(error);
        this.isDown = true;
      });
    }
    this.restarting = null;
  }
}

function traceOf(headers: kafkajs.IHeaders | undefined): Pick<ConsumedRecord, 'headers'> | null {
  const traceparent = headers?.traceparent?.toString();
  return traceparent === undefined ? null : { headers: { traceparent } };
}

function offsetsAfter(batch: ConsumedRecord[]): kafkajs.TopicPartitionOffsetAndMetadata[] {
  const last = new Map<string, ConsumedRecord>();
  for (const record of batch) last.set(`${record.topic}/${record.partition}`, record);
  return [...last.values()].map(({ topic, partition, offset }) => ({
    topic,
    partition,
    offset: String(BigInt(offset) + 1n),
  }));
}

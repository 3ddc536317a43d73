import { randomUUID } from 'node:crypto';
import { deadLetterTopic, TOPIC, type Clock, type EventLog, type Topic } from '@gateway/contracts';
import { readEvents, within } from '@gateway/event-log';
import type kafkajs from 'kafkajs';

/** A record that a service other than the ledger could not apply, out of the dead letters of its topic. */
export interface TopicLetter {
  /** `<service>:<topic>:<partition>:<offset>` of the record. */
  id: string;
  service: string;
  topic: Topic;
  reason: string;
  /** Time of the letter. */
  at: string;
  key: string;
  value: string;
}

interface Options {
  kafka: Pick<kafkajs.Kafka, 'admin' | 'consumer'>;
  log: Pick<EventLog, 'append' | 'close'>;
  clock: Clock;
  /** Prefix of the topics; only for tests. */
  prefix?: string;
}

/** The ledger keeps its own letters in its database. */
const LEDGER = 'usage';
const LIST_MAX = 100;
/** Length at which a consumer cuts the record that it puts into a letter. */
const CUT_AT = 100_000;
const READ_MS = 120_000;

/** Dead letters of the consumers that keep none themselves: those of notifications, workers and keys. */
export class TopicLetters {
  constructor(private readonly options: Options) {}

  /** The newest letters of each topic, at most a hundred, the newest first. */
  async list(): Promise<TopicLetter[]> {
    const found: TopicLetter[] = [];
    for (const topic of Object.values(TOPIC)) {
      const letters: TopicLetter[] = [];
      await this.read(topic, (letter) => {
        letters.push(letter);
        if (letters.length > 2 * LIST_MAX) letters.splice(0, LIST_MAX);
      });
      found.push(...letters.slice(-LIST_MAX));
    }
    return found.toSorted((a, b) => (a.at < b.at ? 1 : -1));
  }

  /**
   * Sends the record once more to the topic that it came from, as it was or as `value` corrects it. Every consumer of the topic
   * reads it, and each knows what it has applied. Throws Error where it is unknown, or still cannot be read.
   */
  async sendAgain(id: string, value: string | null): Promise<Topic> {
    const topic = Object.values(TOPIC).find((name) => name === id.split(':')[1]);
    let letter: TopicLetter | undefined;
    if (topic !== undefined) await this.read(topic, (one) => void (one.id === id && (letter = one)));
    if (topic === undefined || letter === undefined) throw new Error(`There is no dead letter ${id}.`);
    if (value === null && letter.value.length >= CUT_AT)
      throw new Error(
        `The letter has the first ${CUT_AT} characters of its record: give all of it by --value.`,
      );
    const record = { topic, partition: 0, offset: '0', key: letter.key, value: value ?? letter.value };
    const [fault] = readEvents(topic, [record]).dead;
    if (fault !== undefined) throw new Error(`It cannot be applied: ${fault.reason}.`);
    await this.options.log.append(this.named(topic), [{ key: record.key, value: record.value }]);
    return topic;
  }

  async close(): Promise<void> {
    await this.options.log.close();
  }

  private named(topic: string): string {
    return `${this.options.prefix ?? ''}${topic}`;
  }

  /** Reads the letters of a topic up to what is there now, by a group that commits nothing and so leaves nothing. */
  private async read(topic: Topic, take: (letter: TopicLetter) => void): Promise<void> {
    const { kafka, clock } = this.options;
    const name = this.named(deadLetterTopic(topic));
    const ends = await this.ends(name);
    if (ends.size === 0) return;
    const consumer = kafka.consumer({ groupId: `ledger-letters-${randomUUID()}` });
    await consumer.connect();
    try {
      await consumer.subscribe({ topic: name, fromBeginning: true });
      const read = new Promise<void>((resolve, reject) => {
        // After other faults the client starts again by itself.
        consumer.on('consumer.crash', ({ payload }) => {
          if (!payload.restart) reject(payload.error);
        });
        const run = consumer.run({
          autoCommit: false,
          eachBatch: async ({ batch: { partition, messages } }) => {
            for (const message of messages) {
              const letter = letterOf(topic, message);
              if (letter !== null) take(letter);
            }
            const end = ends.get(partition);
            const last = messages.at(-1)?.offset;
            if (end !== undefined && last !== undefined && BigInt(last) + 1n >= end) ends.delete(partition);
            if (ends.size === 0) resolve();
          },
        });
        run.catch(reject);
      });
      await within(read, { clock, timeoutMs: READ_MS });
    } finally {
      await consumer.disconnect();
    }
  }

  /** Returns the end of each partition that has records. A topic that is not there has none. */
  private async ends(topic: string): Promise<Map<number, bigint>> {
    const admin = this.options.kafka.admin();
    await admin.connect();
    try {
      if (!(await admin.listTopics()).includes(topic)) return new Map();
      const offsets = await admin.fetchTopicOffsets(topic);
      const held = offsets.filter(({ low, high }) => BigInt(low) < BigInt(high));
      return new Map(held.map(({ partition, high }) => [partition, BigInt(high)]));
    } finally {
      await admin.disconnect();
    }
  }
}

/** Null for what is no letter, and for those of the ledger. */
function letterOf(topic: Topic, { key, value, timestamp }: kafkajs.KafkaMessage): TopicLetter | null {
  const data = dataOf(value?.toString() ?? '');
  if (data === null || data['topic'] !== topic || data['service'] === LEDGER) return null;
  const { service, reason, partition, offset, value: record } = data;
  if (typeof service !== 'string' || typeof record !== 'string') return null;
  return {
    id: `${service}:${topic}:${String(partition)}:${String(offset)}`,
    service,
    topic,
    reason: String(reason),
    at: new Date(Number(timestamp)).toISOString(),
    key: key?.toString() ?? '',
    value: record,
  };
}

function dataOf(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const { data } = JSON.parse(text) as { data?: unknown };
    return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : null;
  } catch {
    return null; // Whatever stands in the topic by hand is no letter.
  }
}

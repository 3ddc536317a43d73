import type { Clock, LogRecord } from '@gateway/contracts';
import kafkajs from 'kafkajs';
import { within } from './within.js';

const { GZIP, None } = kafkajs.CompressionTypes;

/** A smaller batch costs more to pack than it saves, and an answer may wait for it. */
const PACKED_CHARS_MIN = 8_000;

const RECORDS_MAX = 500;
/** A broker refuses a batch above a million bytes; a character may take three. */
const CHARS_MAX = 300_000;
const QUEUED_RECORDS_MAX = 50_000;
const SEND_TIMEOUT_MS = 20_000;

interface Entry {
  records: LogRecord[];
  resolve: () => void;
  reject: (reason: unknown) => void;
}

/**
 * Batches of one topic: what is appended while a request is under way goes with the next one. One request at a time,
 * because the client would let a later one overtake one that it tries again.
 */
export class KafkaAppender {
  private queue: Entry[] = [];
  private queuedRecords = 0;
  private sending: Promise<void> | null = null;

  constructor(
    private readonly topic: string,
    private readonly producer: Pick<kafkajs.Producer, 'send'>,
    private readonly clock: Clock,
  ) {}

  async append(records: LogRecord[]): Promise<void> {
    // A long append is several requests; in order, because each is awaited.
    for (const part of parts(records)) await this.enqueue(part);
  }

  async drained(): Promise<void> {
    await this.sending;
  }

  private enqueue(records: LogRecord[]): Promise<void> {
    if (this.queuedRecords + records.length > QUEUED_RECORDS_MAX) {
      return Promise.reject(
        new Error(`Topic ${this.topic} has ${this.queuedRecords} records in line: append later.`),
      );
    }
    this.queuedRecords += records.length;
    const sent = new Promise<void>((resolve, reject) => this.queue.push({ records, resolve, reject }));
    this.sending ??= this.sendAll();
    return sent;
  }

  private async sendAll(): Promise<void> {
    // What is appended in this tick of the event loop goes together.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.queue.length > 0) {
      const entries = this.nextBatch();
      try {
        await this.send(entries.flatMap((entry) => entry.records));
        for (const entry of entries) entry.resolve();
      } catch (cause) {
        for (const entry of entries)
          entry.reject(new Error(`Kafka did not take records of ${this.topic}.`, { cause }));
      }
    }
    // In the same tick as the check of the queue: who appends after it begins anew.
    this.sending = null;
  }

  private async send(messages: LogRecord[]): Promise<void> {
    const sent = this.producer.send({
      topic: this.topic,
      acks: -1,
      compression: charsOf(messages) < PACKED_CHARS_MIN ? None : GZIP,
      messages,
    });
    sent.catch(() => undefined); // It may fail after the time was over.
    await within(sent, { clock: this.clock, timeoutMs: SEND_TIMEOUT_MS });
  }

  private nextBatch(): Entry[] {
    let records = 0;
    let chars = 0;
    let count = 0;
    for (const entry of this.queue) {
      records += entry.records.length;
      chars += charsOf(entry.records);
      if (count > 0 && (records > RECORDS_MAX || chars > CHARS_MAX)) break;
      count += 1;
    }
    const entries = this.queue.splice(0, count);
    for (const entry of entries) this.queuedRecords -= entry.records.length;
    return entries;
  }
}

function parts(records: LogRecord[]): LogRecord[][] {
  if (records.length <= RECORDS_MAX && charsOf(records) <= CHARS_MAX) return [records];
  const found: LogRecord[][] = [];
  let part: LogRecord[] = [];
  let chars = 0;
  for (const record of records) {
    if (part.length > 0 && (part.length === RECORDS_MAX || chars + record.value.length > CHARS_MAX)) {
      found.push(part);
      part = [];
      chars = 0;
    }
    part.push(record);
    chars += record.value.length;
  }
  return [...found, part];
}

function charsOf(records: LogRecord[]): number {
  return records.reduce((sum, record) => sum + record.value.length, 0);
}

export interface LogRecord {
  /** Partition key: the account. */
  key: string;
  /** CloudEvents 1.0 JSON. */
  value: string;
  /** Trace context of the request that the message belongs to, in W3C form. */
  headers?: { traceparent: string };
}

export interface ConsumedRecord extends LogRecord {
  topic: string;
  partition: number;
  offset: string;
}

export interface Subscription {
  /** One consumer group may read several topics. */
  topics: string[];
  group: string;
  maxBatch: number;
  /** A batch that is not full begins so long after the one before it began: a lone record at once, a stream in batches. */
  lingerMs: number;
  /** Offsets are committed after it resolves; if it rejects, the batch comes again with back-off. */
  handler(batch: ConsumedRecord[]): Promise<void>;
}

export interface Consumer {
  /** Finishes the batch under way, commits, leaves the group. */
  stop(): Promise<void>;
}

/** Ordered, replayable topics. Drivers: kafkajs; in process. */
export abstract class EventLog {
  /** Resolves when every record is acknowledged by all replicas, or in memory. Rejects otherwise; the caller tries again. */
  abstract append(topic: string, records: LogRecord[]): Promise<void>;
  abstract consume(subscription: Subscription): Promise<Consumer>;
  abstract close(): Promise<void>;

  /**
   * Resolves when no end of a process can lose what the topic has taken until now; whoever appended must be able to append it
   * again until then. null where `append` says as much already. Never rejects.
   */
  kept(_topic: string): Promise<void> | null {
    return null;
  }

  /** Says that each consumer of this process has begun, so that a topic without one has no reader. */
  consumersBegan(): void {
    // Only a log in memory needs to know.
  }
}

import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { EventLog, TOPIC, type ConsumedRecord, type Consumer } from '@gateway/contracts';
import { Consumption, eventOf } from '@gateway/event-log';
import { Metrics, ReadinessChecks } from '@gateway/platform';
import { WorkersConfig } from './workers.config.js';

/** The topic that jobs of an account will depend on. No job runs in this release. */
export const TOPICS = [TOPIC.account] as const;

const SERVICE = 'workers';
const LINGER_MS = 50;

/**
 * Follows the topics, each in a group of its own, and tells the metrics how far it is. A record that cannot be read is
 * counted and passed over: it would be no better the next time.
 */
@Injectable()
export class WorkersConsumer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly consumption: Consumption;
  private consumers: Consumer[] = [];

  constructor(
    private readonly config: WorkersConfig,
    private readonly eventLog: EventLog,
    metrics: Metrics,
    readiness: ReadinessChecks,
  ) {
    this.consumption = new Consumption(metrics, SERVICE);
    readiness.add(
      SERVICE,
      () => this.consumers.length === TOPICS.length || 'Not all topics are followed yet.',
    );
  }

  async onApplicationBootstrap(): Promise<void> {
    this.consumers = await Promise.all(TOPICS.map((topic) => this.follow(topic)));
  }

  /** The batch under way is finished and its offsets are committed. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.consumers.splice(0).map((consumer) => consumer.stop()));
  }

  private follow(topic: string): Promise<Consumer> {
    return this.eventLog.consume({
      topics: [topic],
      group: `${this.config.WORKERS_GROUP}.${topic}`,
      maxBatch: this.config.WORKERS_MAX_BATCH,
      lingerMs: LINGER_MS,
      handler: async (batch) => this.see(batch),
    });
  }

  private see(batch: readonly ConsumedRecord[]): void {
    for (const record of batch)
      this.consumption.handled(record, eventOf(record) === null ? 'unreadable' : 'handled');
  }
}

import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { EventLog, type Clock } from '@gateway/contracts';
import { outboxBacklog, OutboxRelay } from '@gateway/event-log';
import { CLOCK, LOGGER, Metrics } from '@gateway/platform';
import type { Logger } from 'pino';
import { WorkersDatabase } from '../postgres/workers-database.js';

/** Takes this service's account events from its outbox to the event log. */
@Injectable()
export class EventRelay implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly relay: OutboxRelay;

  constructor(
    database: WorkersDatabase,
    eventLog: EventLog,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
    metrics: Metrics,
  ) {
    const onFault = (failure: unknown): void =>
      logger.warn({ err: failure }, 'account events wait in the outbox');
    const onBacklog = outboxBacklog(metrics, 'workers');
    this.relay = new OutboxRelay({ pool: database.pool, eventLog, clock, onFault, onBacklog });
  }

  onApplicationBootstrap(): void {
    this.relay.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.relay.stop();
  }
}

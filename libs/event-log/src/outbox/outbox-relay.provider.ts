import { EventLog, type Clock } from '@gateway/contracts';
import { CLOCK, LOGGER, Metrics } from '@gateway/platform';
import type { FactoryProvider, Type } from '@nestjs/common';
import type pg from 'pg';
import type { Logger } from 'pino';
import { outboxBacklog } from './outbox-backlog.js';
import { OutboxRelay } from './outbox-relay.js';

/** Gives a service the relay of its outbox, from the start of the process to its end. `service` names it in metrics. */
export function outboxRelay(
  database: Type<{ pool: pg.Pool }>,
  service: string,
): FactoryProvider<OutboxRelay> {
  return {
    provide: OutboxRelay,
    inject: [database, EventLog, CLOCK, LOGGER, Metrics],
    useFactory: (
      { pool }: { pool: pg.Pool },
      eventLog: EventLog,
      clock: Clock,
      logger: Logger,
      metrics: Metrics,
    ) =>
      new OutboxRelay({
        pool,
        eventLog,
        clock,
        onFault: (failure) =>
          logger.warn({ err: failure, service_name: service }, 'events wait in the outbox'),
        onBacklog: outboxBacklog(metrics, service),
      }),
  };
}

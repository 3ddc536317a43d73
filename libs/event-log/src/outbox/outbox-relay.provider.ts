import { EventLog, type Clock } from '@gateway/contracts';
import { CLOCK, LOGGER, Metrics } from '@gateway/platform';
import type { FactoryProvider, Type } from '@nestjs/common';
import type pg from 'pg';
import type { Logger } from 'pino';
import { Gauge } from 'prom-client';
import { OutboxRelay } from './outbox-relay.js';

const ROWS = 'gateway_outbox_backlog_rows';
const AGE = 'gateway_outbox_oldest_seconds';

/** Counts the waiting rows of a service's outbox. Services in one process share the two metrics. */
function outboxBacklog(
  { registry }: Metrics,
  service: string,
): (backlog: { rows: number; oldestSeconds: number }) => void {
  const gauge = (name: string, help: string): Gauge => {
    const known = registry.getSingleMetric(name);
    return known instanceof Gauge
      ? known
      : new Gauge({ name, help, labelNames: ['service'], registers: [registry] });
  };
  const rowsWaiting = gauge(
    ROWS,
    'Rows of the outbox that the event log has not acknowledged, at most 10,000.',
  );
  const oldest = gauge(AGE, 'Age of the oldest of these rows; 0 where there is none.');
  return ({ rows, oldestSeconds }) => {
    rowsWaiting.set({ service }, rows);
    oldest.set({ service }, oldestSeconds);
  };
}

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

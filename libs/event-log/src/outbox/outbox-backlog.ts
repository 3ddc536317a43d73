import { Gauge } from 'prom-client';
import type { Metrics } from '@gateway/platform';

const ROWS = 'gateway_outbox_backlog_rows';
const AGE = 'gateway_outbox_oldest_seconds';

/** Counts the waiting rows of a service's outbox. Services in one process share the two metrics. */
export function outboxBacklog(
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

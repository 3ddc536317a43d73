import { EXACT, row, verdictOf, type Row } from '../figures.js';
import { measureIngestion } from '../ingestion.js';

const EVENTS = 60_000;
const GATE = 10_000;

/** The usage service alone: from a full topic to the ledger. */
export async function ingestionRows(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const accounts of [1, 20, 1_000]) {
    const figures = await measureIngestion({ accounts, events: EVENTS });
    const isGated = accounts === 20;
    rows.push(
      row({
        id: `ingestion-${accounts}`,
        figure: `ingestion alone, one consumer, ${accounts} account${accounts === 1 ? '' : 's'}`,
        unit: 'events/s',
        gateway: EXACT(figures.eventsPerSecond),
        ...(isGated ? { gate: '≥ 10,000', verdict: verdictOf(figures.eventsPerSecond >= GATE) } : {}),
        note: `processor time per event: usage ${figures.usageUs.toFixed(0)}, PostgreSQL ${figures.postgresUs.toFixed(0)}, Redis ${figures.redisUs.toFixed(0)} µs`,
      }),
    );
  }
  return rows;
}

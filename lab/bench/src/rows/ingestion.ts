import { figureOf, median, row, verdictOf, type Row } from '../figures.js';
import { measureIngestion, type IngestionFigures } from '../ingestion.js';
import type { Options } from '../options.js';

const EVENTS = 40_000;
/** Events a second by the number of accounts. */
const GATES = [
  { accounts: 20, eventsMin: 10_000 },
  { accounts: 1_000, eventsMin: 6_000 },
];

/** The usage service alone: from a full topic to the ledger. */
export async function ingestionRows({ rounds }: Pick<Options, 'rounds'>): Promise<Row[]> {
  const measured = GATES.map((gate) => ({ ...gate, figures: new Array<IngestionFigures>() }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { accounts, figures } of measured)
      figures.push(await measureIngestion({ accounts, events: EVENTS }));
  }
  return measured.map(({ accounts, eventsMin, figures }) => {
    const gateway = figureOf(
      figures.map(({ eventsPerSecond }) => eventsPerSecond),
      'more',
    );
    const us = (pick: (round: IngestionFigures) => number): string => median(figures.map(pick)).toFixed(0);
    return row({
      id: `ingestion-${accounts}`,
      figure: `ingestion alone, one consumer, ${accounts.toLocaleString('en-US')} accounts`,
      unit: 'events/s',
      gateway,
      gate: `≥ ${eventsMin.toLocaleString('en-US')}`,
      verdict: verdictOf(gateway.median >= eventsMin),
      note: `processor time per event: usage ${us((at) => at.usageUs)}, PostgreSQL ${us((at) => at.postgresUs)}, Redis ${us((at) => at.redisUs)} µs`,
    });
  });
}

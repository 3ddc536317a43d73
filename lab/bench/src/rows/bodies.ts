import { row, verdictOf, type Row } from '../figures.js';
import { chatBody, type Lab } from '../lab.js';
import { costOn, warmUp } from '../loads.js';
import { compared, costsOf, alternate } from '../turns.js';

const AXIS = [
  { id: '10kb', name: '10 KB', bytes: 10_240, isGated: false },
  { id: '100kb', name: '100 KB', bytes: 102_400, isGated: true },
  { id: '1mb', name: '1 MB', bytes: 1_048_576, isGated: true },
];
const RATIO_MIN = 1.1;

/** Larger requests: the baseline serialises them again, the gateway passes their bytes on. */
export async function bodyRows(lab: Lab): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { id, name, bytes, isGated } of AXIS) {
    const rounds = await alternate(lab, {
      warmUp: (target) => warmUp(lab, target, chatBody(target.plainModel, bytes)),
      measure: (target) => costOn(lab, target, chatBody(target.plainModel, bytes)),
    });
    const rps = compared(rounds, ({ requestsPerSecond }) => requestsPerSecond, 'more');
    rows.push(
      row({
        id: `body-${id}`,
        figure: `plain chat ${name}, 16 connections`,
        unit: 'requests/s',
        ...rps,
        costs: costsOf(rounds),
        ...(isGated
          ? { gate: `ratio ≥ ${RATIO_MIN}`, verdict: verdictOf((rps.ratio ?? 0) >= RATIO_MIN) }
          : {}),
      }),
      row({
        id: `body-${id}-cpu`,
        figure: `main thread at ${name}`,
        unit: 'µs/request',
        ...compared(rounds, ({ mainUs }) => mainUs, 'less'),
      }),
    );
  }
  return rows;
}

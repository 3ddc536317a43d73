import { figureOf, row, verdictOf, type Row } from '../figures.js';
import { chatBody, costOn, warmUp, type Lab } from '../lab.js';

const AXIS = [
  { id: '10kb', name: '10 KB', bytes: 10_240, isGated: false },
  { id: '100kb', name: '100 KB', bytes: 102_400, isGated: true },
  { id: '1mb', name: '1 MB', bytes: 1_048_576, isGated: true },
];
const GATE = 1.1;

/** Larger requests: the baseline serialises them again, the gateway passes their bytes on. */
export async function bodyRows(lab: Lab): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { id, name, bytes, isGated } of AXIS) {
    const rps = new Map<string, number[]>(lab.targets.map((target) => [target.name, []]));
    const main = new Map<string, number[]>(lab.targets.map((target) => [target.name, []]));
    for (const target of lab.targets) await warmUp(lab, target, chatBody(target.plainModel, bytes));
    for (let round = 0; round < lab.options.rounds; round += 1) {
      for (const target of lab.targets) {
        const cost = await costOn(target, chatBody(target.plainModel, bytes), lab.options.seconds);
        rps.get(target.name)?.push(cost.requestsPerSecond);
        main.get(target.name)?.push(cost.mainUs);
      }
    }
    rows.push(rowOf(`body-${id}`, `plain chat ${name}, 16 connections`, rps, isGated));
    const cost = (target: string): number[] => main.get(target) ?? [];
    rows.push(
      row({
        id: `body-${id}-cpu`,
        figure: `main thread at ${name}`,
        unit: 'µs/request',
        baseline: figureOf(cost('baseline'), 'less'),
        gateway: figureOf(cost('gateway'), 'less'),
        ratio: figureOf(cost('baseline'), 'less').median / figureOf(cost('gateway'), 'less').median,
      }),
    );
  }
  return rows;
}

function rowOf(id: string, figure: string, rps: Map<string, number[]>, isGated: boolean): Row {
  const figures = Object.fromEntries([...rps].map(([name, rounds]) => [name, figureOf(rounds, 'more')]));
  const { baseline, gateway, ...peers } = figures;
  const ratio = gateway.median / baseline.median;
  const gate = isGated ? { gate: `ratio ≥ ${GATE}`, verdict: verdictOf(ratio >= GATE) } : {};
  return row({ id, figure, unit: 'requests/s', baseline, gateway, peers, ratio, ...gate });
}

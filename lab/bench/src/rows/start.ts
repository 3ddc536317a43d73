import type { FleetApp } from '@gateway/testing';
import { figureOf, median, row, verdictOf, type Row } from '../figures.js';
import type { Lab } from '../lab.js';

const APPS: readonly FleetApp[] = ['edge', 'keys', 'catalogue', 'usage'];
const GATE_SECONDS = 2;

/**
 * Measures from the fork of a process to its first ready answer, with its neighbours running. The box is otherwise at
 * rest.
 */
export async function startRows({ fleet, options }: Lab): Promise<Row[]> {
  const rows: Row[] = [];
  for (const app of APPS) {
    const rounds: number[] = [];
    const processor: number[] = [];
    for (let round = 0; round < options.rounds; round += 1) {
      const { seconds, processorSeconds } = await fleet.startOnce(app);
      rounds.push(seconds);
      processor.push(processorSeconds);
    }
    const gateway = figureOf(rounds, 'less');
    rows.push(
      row({
        id: `start-${app}`,
        figure: `start to ready: ${app}`,
        unit: 's',
        gateway,
        gate: `≤ ${GATE_SECONDS}`,
        verdict: verdictOf(gateway.median <= GATE_SECONDS),
        note: `${median(processor).toFixed(2)} s of processor time`,
      }),
    );
  }
  return rows;
}

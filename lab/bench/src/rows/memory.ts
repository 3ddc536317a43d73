import { figureOf, median, row, verdictOf, type Row } from '../figures.js';
import type { Lab, Target } from '../lab.js';
import { loadOn, plainBodyOf } from '../loads.js';
import { memoryMiB } from '../proc.js';

const GATE_MIB = 260;
/** Growth of the last quarter over the second one: the first still fills caches and compiled code. */
const FLAT = 1.05;

/** Resident memory under plain load for minutes; the baseline takes the same load, for a minute at most. */
export async function memoryRows(lab: Lab): Promise<Row[]> {
  const { minutes } = lab.options;
  const baseline = await sample(lab.baseline, Math.min(1, minutes));
  const gateway = await sample(lab.gateway, minutes);
  const quarter = Math.floor(gateway.length / 4);
  const growth = median(gateway.slice(-quarter)) / median(gateway.slice(quarter, 2 * quarter));
  const [of, ofBaseline] = [figureOf(gateway, 'less'), figureOf(baseline, 'less')];
  return [
    row({
      id: 'memory',
      figure: 'memory of the process under plain load',
      unit: 'MiB',
      baseline: ofBaseline,
      gateway: of,
      ratio: ofBaseline.worst / of.worst,
      gate: `≤ ${GATE_MIB}`,
      verdict: verdictOf(of.worst <= GATE_MIB),
    }),
    row({
      id: 'memory-flat',
      figure: `growth of it over ${minutes} min, last quarter over second`,
      unit: 'times',
      gateway: { median: growth, worst: growth },
      gate: `≤ ${FLAT}`,
      verdict: verdictOf(growth <= FLAT),
      note: minutes < 30 ? 'the gate is meant for 30 minutes: --minutes 30' : '',
    }),
  ];
}

async function sample(target: Target, minutes: number): Promise<number[]> {
  const samples: number[] = [];
  const sampler = setInterval(() => samples.push(memoryMiB(target.pid ?? 0)), 500);
  await loadOn(target, plainBodyOf(target), 16, Math.max(2, Math.round(minutes * 60)));
  clearInterval(sampler);
  return samples;
}

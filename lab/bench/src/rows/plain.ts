import { row, verdictOf, type Row } from '../figures.js';
import type { Lab, Target } from '../lab.js';
import { costOn, loadOn, plainBodyOf, warmUp, type Cost } from '../loads.js';
import { compared, costsOf, alternate, type Rounds } from '../turns.js';
import { untilLedgerHasAll } from './caught-up.js';

const RPS_RATIO_MIN = 0.38;
/** Times the baseline's figure. */
const MAIN_MAX = 1.5;
const P50_MAX = 2.4;
const P99_MAX = 1.4;

/** One turn of one program: throughput and cost of 16 connections, latency of 10. */
interface Round extends Cost {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
}

/** Plain chat of 1 KB: throughput, what a request costs, latency, and whether the ledger keeps up. */
export async function plainRows(lab: Lab): Promise<Row[]> {
  const rounds = await alternate(lab, {
    warmUp: (target) => warmUp(lab, target, plainBodyOf(target)),
    measure: (target) => measure(lab, target),
  });
  const caughtUp = await untilLedgerHasAll(lab);
  const rps = compared(rounds, ({ requestsPerSecond }) => requestsPerSecond, 'more');
  return [
    row({
      id: 'plain-rps',
      figure: 'plain chat 1 KB, 16 connections',
      unit: 'requests/s',
      ...rps,
      costs: costsOf(rounds),
      gate: `ratio ≥ ${RPS_RATIO_MIN}`,
      verdict: verdictOf((rps.ratio ?? 0) >= RPS_RATIO_MIN),
      note: lab.caution,
    }),
    ...costRows(rounds),
    ...latencyRows(rounds),
    caughtUp,
  ];
}

async function measure(lab: Lab, target: Target): Promise<Round> {
  const body = plainBodyOf(target);
  const many = await costOn(lab, target, body);
  const { p50Ms, p99Ms } = await loadOn(target, body, 10, lab.options.seconds);
  return { ...many, p50Ms, p99Ms };
}

function costRows(rounds: Rounds<Round>): Row[] {
  const main = compared(rounds, ({ mainUs }) => mainUs, 'less');
  return [
    row({
      id: 'plain-cpu-box',
      figure: 'processor time of the whole machine',
      unit: 'µs/request',
      ...compared(rounds, ({ boxUs }) => boxUs, 'less'),
    }),
    row({
      id: 'plain-cpu-main',
      figure: 'processor time of the main thread',
      unit: 'µs/request',
      ...main,
      gate: `≤ ${MAIN_MAX} of the baseline’s`,
      verdict: verdictOf(main.gateway.median <= MAIN_MAX * main.baseline.median),
    }),
    row({
      id: 'plain-cpu-process',
      figure: 'processor time of the process, all threads',
      unit: 'µs/request',
      ...compared(rounds, ({ processUs }) => processUs, 'less'),
    }),
    row({
      id: 'plain-memory',
      figure: 'memory of the process after the round',
      unit: 'MiB',
      ...compared(rounds, ({ memoryMiB }) => memoryMiB, 'less'),
    }),
  ];
}

function latencyRows(rounds: Rounds<Round>): Row[] {
  const p50 = compared(rounds, ({ p50Ms }) => p50Ms, 'less');
  const p99 = compared(rounds, ({ p99Ms }) => p99Ms, 'less');
  return [
    row({
      id: 'plain-p50',
      figure: 'p50, 10 connections',
      unit: 'ms',
      ...p50,
      gate: `≤ ${P50_MAX} of the baseline’s`,
      verdict: verdictOf(p50.gateway.median <= P50_MAX * p50.baseline.median),
    }),
    row({
      id: 'plain-p99',
      figure: 'p99, 10 connections',
      unit: 'ms',
      ...p99,
      gate: `≤ ${P99_MAX} of the baseline’s`,
      verdict: verdictOf(p99.gateway.median <= P99_MAX * p99.baseline.median),
    }),
  ];
}

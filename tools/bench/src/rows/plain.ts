import { figureOf, row, verdictOf, type Figure, type Row } from '../figures.js';
import { chatBody, costOn, loadOn, warmUp, type Lab, type Target } from '../lab.js';
import { untilLedgerHasAll } from './caught-up.js';

interface Rounds {
  rps: number[];
  p50: number[];
  p99: number[];
  main: number[];
  all: number[];
}

const PLAIN_BYTES = 1_024;

export const plainBodyOf = (target: Target): string => chatBody(target.plainModel, PLAIN_BYTES);

/** Rounds in turn, so that a machine that slows down slows all. */
async function measure(lab: Lab): Promise<Map<string, Rounds>> {
  const { targets, options } = lab;
  const measured = new Map<string, Rounds>();
  for (const target of targets) {
    measured.set(target.name, { rps: [], p50: [], p99: [], main: [], all: [] });
    const seconds = await warmUp(lab, target, plainBodyOf(target));
    process.stderr.write(`${target.name} warmed up for ${seconds} s\n`);
  }
  for (let round = 0; round < options.rounds; round += 1) {
    for (const target of targets) {
      const of = measured.get(target.name);
      if (!of) continue;
      const many = await costOn(target, plainBodyOf(target), options.seconds);
      of.rps.push(many.requestsPerSecond);
      of.main.push(many.mainUs);
      of.all.push(many.processUs);
      const few = await loadOn(target, plainBodyOf(target), 10, options.seconds);
      of.p50.push(few.p50Ms);
      of.p99.push(few.p99Ms);
    }
  }
  return measured;
}

/** One figure of all programs. */
function across(
  measured: Map<string, Rounds>,
  pick: (rounds: Rounds) => number[],
  better: 'more' | 'less',
): { baseline: Figure; gateway: Figure; peers: Record<string, Figure> } {
  const figures = Object.fromEntries(
    [...measured].map(([name, rounds]) => [name, figureOf(pick(rounds), better)]),
  );
  const { baseline, gateway, ...peers } = figures;
  return { baseline, gateway, peers };
}

/** Plain chat of 1 KB: throughput, what a request costs, latency, and whether the ledger keeps up. */
export async function plainRows(lab: Lab): Promise<Row[]> {
  const measured = await measure(lab);
  const caughtUp = await untilLedgerHasAll(lab);
  const rps = across(measured, ({ rps }) => rps, 'more');
  const main = across(measured, ({ main }) => main, 'less');
  const all = across(measured, ({ all }) => all, 'less');
  const p50 = across(measured, ({ p50 }) => p50, 'less');
  const p99 = across(measured, ({ p99 }) => p99, 'less');
  const rpsRatio = rps.gateway.median / rps.baseline.median;
  const mainRatio = main.baseline.median / main.gateway.median;
  return [
    row({
      id: 'plain-rps',
      figure: 'plain chat 1 KB, 16 connections',
      unit: 'requests/s',
      ...rps,
      ratio: rpsRatio,
      gate: '≥ 8,000; ratio ≥ 0.45',
      verdict: verdictOf(rps.gateway.median >= 8_000 && rpsRatio >= 0.45),
      note: lab.caution,
    }),
    row({
      id: 'plain-cpu-main',
      figure: 'processor time of the main thread',
      unit: 'µs/request',
      ...main,
      ratio: mainRatio,
      gate: 'ratio ≥ 0.65',
      verdict: verdictOf(mainRatio >= 0.65),
    }),
    row({
      id: 'plain-cpu-process',
      figure: 'processor time of the process, all threads',
      unit: 'µs/request',
      ...all,
      ratio: all.baseline.median / all.gateway.median,
    }),
    row({
      id: 'plain-p50',
      figure: 'p50, 10 connections',
      unit: 'ms',
      ...p50,
      ratio: p50.baseline.median / p50.gateway.median,
      gate: '≤ 1.2',
      verdict: verdictOf(p50.gateway.median <= 1.2),
    }),
    row({
      id: 'plain-p99',
      figure: 'p99, 10 connections',
      unit: 'ms',
      ...p99,
      ratio: p99.baseline.median / p99.gateway.median,
      gate: '≤ 6.3',
      verdict: verdictOf(p99.gateway.median <= 6.3),
    }),
    caughtUp,
  ];
}

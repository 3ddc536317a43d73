import { cpus } from 'node:os';
import { chatBody, type Lab, type Target } from './lab.js';
import { load, type LoadFigures } from './load.js';
import {
  busySeconds,
  compilerSeconds,
  familySeconds,
  mainThreadSeconds,
  memoryMiB,
  processorSeconds,
  untilIdle,
} from './proc.js';

/** The cost of a round, in microseconds of processor time per request; NaN where it cannot be seen. */
export interface Cost {
  mainUs: number;
  processUs: number;
  /** Time of all processors, with load generator, upstream, broker, database and ledger. */
  boxUs: number;
  memoryMiB: number;
  /** Share of the machine that programs had that do not belong to the bench. */
  foreignShare: number;
}

const WARM_UP_ROUND_SECONDS = 4;
const WARM_UP_ROUNDS_MIN = 5;
const IS_STEADY = 0.03;
/** Compile time below which its fall changes no figure. */
const COMPILER_US_MIN = 5;
const COMPILER_FALL = 0.8;
/** A round beside more foreign work than this is measured again. */
const FOREIGN_MAX = 0.08;
const TRIES = 3;

export const plainBodyOf = (target: Target): string => chatBody(target.plainModel, 1_024);

/**
 * Loads until two rounds in a row are alike and V8 compiles no less than in the round before. The options bound the time.
 * Requests/s alone stand long before the last function is compiled.
 */
export async function warmUp({ options }: Lab, target: Target, body: string): Promise<void> {
  let before = { requestsPerSecond: 0, compilerUs: Number.POSITIVE_INFINITY };
  for (let round = 1; round * WARM_UP_ROUND_SECONDS <= options.warmUpSeconds; round += 1) {
    const compiled = target.pid === null ? 0 : compilerSeconds(target.pid);
    const { requestsPerSecond } = await loadOn(target, body, 16, WARM_UP_ROUND_SECONDS);
    const compiling = (target.pid === null ? 0 : compilerSeconds(target.pid)) - compiled;
    const compilerUs = (compiling / (requestsPerSecond * WARM_UP_ROUND_SECONDS)) * 1e6;
    process.stderr.write(
      `${target.name}: ${requestsPerSecond.toFixed(0)} requests/s, V8's threads ${compilerUs.toFixed(1)} µs/request\n`,
    );
    const isSteady = Math.abs(requestsPerSecond - before.requestsPerSecond) <= requestsPerSecond * IS_STEADY;
    const isCompiled = !(compilerUs > COMPILER_US_MIN && compilerUs < before.compilerUs * COMPILER_FALL);
    if (round >= WARM_UP_ROUNDS_MIN && isSteady && isCompiled) return;
    before = { requestsPerSecond, compilerUs };
  }
}

/** One load; answers that are errors end the run, because nothing is measured by them. */
export async function loadOn(
  { name, url, key, plainHeaders: headers }: Pick<Target, 'name' | 'url' | 'key' | 'plainHeaders'>,
  body: string,
  connections: number,
  seconds: number,
  keys: readonly string[] = [key],
): Promise<LoadFigures> {
  const figures = await load({ url, keys, headers, body, connections, seconds });
  if (figures.errors > 0) {
    throw new Error(`${name}: ${figures.errors} answers were errors, so nothing was measured`);
  }
  return figures;
}

/** One load of 16 connections with what it cost. */
export function costOn(
  lab: Lab,
  target: Target,
  body: string,
  keys?: readonly string[],
): Promise<LoadFigures & Cost> {
  const { seconds } = lab.options;
  return costOf(
    lab,
    target,
    () => loadOn(target, body, 16, seconds, keys),
    ({ requestsPerSecond }) => requestsPerSecond * seconds,
  );
}

/**
 * Returns the cost of a piece of work per request. It begins on an idle machine and is repeated where others disturbed
 * it.
 */
export async function costOf<T>(
  lab: Lab,
  target: Target,
  work: () => Promise<T>,
  requestsOf: (done: T) => number,
): Promise<T & Cost> {
  let best: (T & Cost) | null = null;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    await untilIdle();
    const round = await costOnce(lab, target, work, requestsOf);
    if (best === null || round.foreignShare < best.foreignShare) best = round;
    if (!(best.foreignShare > FOREIGN_MAX)) break;
  }
  if (best === null) throw new Error('nothing was measured');
  return best;
}

async function costOnce<T>(
  { targets }: Lab,
  target: Target,
  work: () => Promise<T>,
  requestsOf: (done: T) => number,
): Promise<T & Cost> {
  const others = targets.filter((other) => other !== target).flatMap(({ family }) => family);
  const before = spent(target.pid, others);
  const startedMs = performance.now();
  const done = await work();
  const seconds = (performance.now() - startedMs) / 1_000;
  const after = spent(target.pid, others);
  const requests = requestsOf(done);
  const us = (name: keyof Spent): number => ((after[name] - before[name]) / requests) * 1e6;
  const foreign = after.busy - before.busy - (after.bench - before.bench);
  return {
    ...done,
    mainUs: us('main'),
    processUs: us('all'),
    boxUs: us('busy') - us('others'),
    memoryMiB: target.pid === null ? Number.NaN : memoryMiB(target.pid),
    foreignShare: foreign / (seconds * cpus().length),
  };
}

interface Spent {
  main: number;
  all: number;
  busy: number;
  /** Time of the other targets and their servers. */
  others: number;
  /** Time of everything that the bench has started, itself included. */
  bench: number;
}

function spent(pid: number | null, others: readonly number[]): Spent {
  return {
    main: pid === null ? Number.NaN : mainThreadSeconds(pid),
    all: pid === null ? Number.NaN : processorSeconds(pid),
    busy: busySeconds(),
    others: familySeconds(others),
    bench: familySeconds([process.pid]),
  };
}

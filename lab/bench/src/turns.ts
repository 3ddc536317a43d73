import { figureOf, median, type Figure, type Row, type Spread } from './figures.js';
import type { Lab, Target } from './lab.js';
import type { Cost } from './loads.js';

/** Results of each program, round by round, by its name. */
export type Rounds<T> = ReadonlyMap<string, readonly T[]>;

interface Turn<T> {
  warmUp: (target: Target) => Promise<unknown>;
  measure: (target: Target) => Promise<T>;
}

/**
 * Warms each program up, then measures rounds in turn, every other one in the opposite order, so that a machine that
 * slows down slows all. A peer that fails takes part no longer; our own programs end the group.
 */
export async function alternate<T>(lab: Lab, { warmUp, measure }: Turn<T>): Promise<Rounds<T>> {
  const rounds = new Map<string, T[]>(lab.targets.map(({ name }) => [name, []]));
  const attempt = async (target: Target, work: (of: T[]) => Promise<void>): Promise<void> => {
    const of = rounds.get(target.name);
    if (of === undefined) return;
    try {
      await work(of);
    } catch (error) {
      if (!lab.options.peers.some(({ name }) => name === target.name)) throw error;
      rounds.delete(target.name);
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    }
  };
  for (const target of lab.targets) await attempt(target, async () => void (await warmUp(target)));
  for (let round = 0; round < lab.options.rounds; round += 1) {
    for (const target of round % 2 === 0 ? lab.targets : [...lab.targets].reverse()) {
      await attempt(target, async (of) => void of.push(await measure(target)));
    }
  }
  return rounds;
}

type Compared = Pick<Row, 'peers' | 'ratio'> & { baseline: Figure; gateway: Figure };

/**
 * One figure of all programs; a ratio above 1 is better than the baseline in both directions. Ratios are of rounds side
 * by side: a machine that turns slow between two rounds would falsify a ratio of medians.
 */
export function compared<T>(
  rounds: Rounds<T>,
  pick: (round: T) => number,
  better: 'more' | 'less',
): Compared {
  const values = new Map([...rounds].map(([name, of]) => [name, of.map(pick)] as const));
  const valuesOf = (name: string): readonly number[] => values.get(name) ?? [];
  const timesOf = (name: string, other: string): Spread => {
    const others = valuesOf(other);
    const ratios = valuesOf(name)
      .slice(0, others.length)
      .map((value, round) => (better === 'more' ? value / others[round] : others[round] / value));
    return { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
  };
  const figure = (name: string): Figure => figureOf(valuesOf(name), better);
  const peers = Object.fromEntries(
    [...values.keys()]
      .filter((name) => name !== 'baseline' && name !== 'gateway')
      .map((name) => [
        name,
        { ...figure(name), ratio: timesOf(name, 'baseline').median, ofIt: timesOf('gateway', name) },
      ]),
  );
  return {
    baseline: figure('baseline'),
    gateway: figure('gateway'),
    peers,
    ratio: timesOf('gateway', 'baseline').median,
  };
}

/** Returns the cost of a load row's request to the whole machine and to the program, of each program. */
export function costsOf(rounds: Rounds<Cost>): NonNullable<Row['costs']> {
  return [...rounds].map(([name, of]) => ({
    name,
    boxUs: figureOf(
      of.map(({ boxUs }) => boxUs),
      'less',
    ).median,
    processUs: figureOf(
      of.map(({ processUs }) => processUs),
      'less',
    ).median,
  }));
}

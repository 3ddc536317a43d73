import type { Series } from '../usage/usage.queries.js';
import { barHeight } from '../chart/bar-height.js';

const SHOWN = 5;

export interface Mover {
  id: string;
  name: string;
  nowUsd: string;
  beforeUsd: string;
}

/** Returns the groups whose spend has changed most since the period before, the largest change first. */
export function moversOf(now: Series, before: Series): Mover[] {
  const labels = new Map([...before.groups, ...now.groups].map(({ id, label }) => [id, label ?? id]));
  // The others of two periods are not the same ones.
  labels.delete('other');
  const spendOf = ({ totals }: Series, id: string): string =>
    Object.hasOwn(totals, id) ? totals[id].cost_usd : '0';
  const change = ({ nowUsd, beforeUsd }: Mover): number => Math.abs(barHeight(nowUsd) - barHeight(beforeUsd));
  return [...labels]
    .map(([id, name]) => ({ id, name, nowUsd: spendOf(now, id), beforeUsd: spendOf(before, id) }))
    .filter((mover) => change(mover) > 0)
    .sort((a, b) => change(b) - change(a))
    .slice(0, SHOWN);
}

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from './figures.js';
import { root } from './processes.js';
import { markdown } from './table.js';

const FOLDER = join(root, 'docs/performance');
const FIGURES = join(FOLDER, 'figures.json');
const PAGE = join(FOLDER, 'figures.md');

const HEAD =
  'Written by `npm run bench -- --write-docs`; [performance.md](../performance.md) says how to read it.';

/** A stored row, with the time and the commit of its measurement. */
type KeptRow = Row & { at: string; commit: string };
interface Kept {
  setting: Record<string, string | number>;
  rows: KeptRow[];
}

/**
 * Stores the rows in docs/performance/figures.json, in place of those of the same id, and writes docs/performance/figures.md
 * from all stored rows. Without rows it only writes the page again.
 */
export function writeDocs(rows: readonly Row[], setting: Kept['setting']): void {
  mkdirSync(FOLDER, { recursive: true });
  const before: Kept | null = existsSync(FIGURES)
    ? (JSON.parse(readFileSync(FIGURES, 'utf8')) as Kept)
    : null;
  const { at, commit } = setting;
  const fresh = new Map(rows.map((row) => [row.id, { ...row, at: String(at), commit: String(commit) }]));
  const replaced = (before?.rows ?? []).map((row) => fresh.get(row.id) ?? row);
  const known = new Set(replaced.map(({ id }) => id));
  const kept: Kept = {
    setting: rows.length > 0 ? setting : (before?.setting ?? setting),
    rows: [...replaced, ...[...fresh.values()].filter(({ id }) => !known.has(id))],
  };
  writeFileSync(FIGURES, `${JSON.stringify(kept, null, 2)}\n`);
  writeFileSync(PAGE, figuresText(kept));
}

function figuresText({ setting, rows }: Kept): string {
  const { processors, node, load, rounds, seconds } = setting;
  const runs = new Map<string, KeptRow[]>();
  for (const row of rows) {
    const run = `${row.at} UTC, commit ${row.commit}`;
    runs.set(run, [...(runs.get(run) ?? []), row]);
  }
  const box = `Box: ${processors}; Node ${node}; load by ${load}; the median of ${rounds} rounds of ${seconds} s, the worst beside it.`;
  const parts = [...runs].map(([run, of]) => `**${run}**\n\n${markdown(of)}`);
  return `${['# Figures', HEAD, box, ...parts].join('\n\n').trimEnd()}\n`;
}

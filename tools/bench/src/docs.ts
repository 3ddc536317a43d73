import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from './figures.js';
import { root } from './processes.js';
import { markdown } from './table.js';

const FOLDER = join(root, 'docs/performance');
const FIGURES = join(FOLDER, 'figures.json');
const COSTS = join(FOLDER, 'edge-cost.md');
const PAGE = join(root, 'docs/performance.md');

/** A row as it is kept: with when and of what it was measured. */
type KeptRow = Row & { at: string; commit: string };
interface Kept {
  setting: Record<string, string | number>;
  rows: KeptRow[];
}

/**
 * Keeps the rows in docs/performance/figures.json, in place of those of the same id, and writes all that are kept
 * between the markers of docs/performance.md. Without rows it only writes the page again.
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
  const costs = existsSync(COSTS) ? readFileSync(COSTS, 'utf8') : 'Not profiled yet.\n';
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(PAGE, between(between(page, 'figures', figuresText(kept)), 'cost', costs));
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
  return [`${box}\n`, ...parts].join('\n');
}

/** The page with the text between its markers exchanged. */
function between(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no place for ${name}`);
  return `${page.slice(0, from + begin.length)}\n${text.trimEnd()}\n${page.slice(to)}`;
}

import type { Figure, Row } from './figures.js';

function digits(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US');
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}

function cell(figure: Figure | null | undefined): string {
  if (figure === null || figure === undefined) return '';
  const { median, worst, ratio, ofIt } = figure;
  const value = median === worst ? digits(median) : `${digits(median)} (worst ${digits(worst)})`;
  const gateway = ofIt
    ? `; gateway ${digits(ofIt.median)} of it (${digits(ofIt.least)} to ${digits(ofIt.most)})`
    : '';
  return `${value}${ratio === undefined ? '' : ` = ${digits(ratio)}`}${gateway}`;
}

/** Names of the peers that any row has, in the order of their first appearance. */
function peerNames(rows: readonly Row[]): string[] {
  return [...new Set(rows.flatMap(({ peers }) => Object.keys(peers)))];
}

/** One cost of each program, in the order of the columns. */
function costCell({ costs }: Row, names: readonly string[], pick: 'boxUs' | 'processUs'): string {
  if (!costs) return '';
  const of = (name: string): number => costs.find((cost) => cost.name === name)?.[pick] ?? Number.NaN;
  return names.map((name) => (Number.isFinite(of(name)) ? of(name).toFixed(0) : '-')).join(' / ');
}

/** The table in Markdown. Ratios are what holds on a noisy machine; the figures beside them are of this run. */
export function markdown(rows: readonly Row[]): string {
  const peers = peerNames(rows);
  const programs = ['baseline', 'gateway', ...peers];
  const hasCosts = rows.some(({ costs }) => costs);
  const costHead = hasCosts ? ['box µs', 'process µs'] : [];
  const head = ['figure', 'unit', ...programs, 'ratio', ...costHead, 'gate', ''];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const body = rows.map((row) =>
    line([
      row.figure,
      row.unit,
      cell(row.baseline),
      cell(row.gateway),
      ...peers.map((name) => cell(row.peers[name])),
      row.ratio === null ? '' : digits(row.ratio),
      ...(hasCosts ? [costCell(row, programs, 'boxUs'), costCell(row, programs, 'processUs')] : []),
      row.gate,
      row.verdict === 'miss' ? '**miss**' : (row.verdict ?? ''),
    ]),
  );
  const notes = rows.filter(({ note }) => note !== '').map(({ figure, note }) => `- ${figure}: ${note}`);
  const table = [line(head), `|${head.map(() => '---').join('|')}|`, ...body].join('\n');
  return `${[table, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')}\n`;
}

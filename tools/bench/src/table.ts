import type { Figure, Row } from './figures.js';

function digits(value: number): string {
  if (Number.isNaN(value)) return '-';
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString('en-US');
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}

function cell(figure: Figure | null | undefined): string {
  if (figure === null || figure === undefined) return '';
  const { median, worst } = figure;
  return median === worst ? digits(median) : `${digits(median)} (worst ${digits(worst)})`;
}

/** Names of the peers that any row has, in the order of their first appearance. */
function peerNames(rows: readonly Row[]): string[] {
  return [...new Set(rows.flatMap(({ peers }) => Object.keys(peers)))];
}

/** The table in Markdown. Ratios are what holds on a noisy machine; the figures beside them are of this run. */
export function markdown(rows: readonly Row[]): string {
  const peers = peerNames(rows);
  const head = ['figure', 'unit', 'baseline', 'gateway', ...peers, 'ratio', 'gate', ''];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const body = rows.map((row) =>
    line([
      row.figure,
      row.unit,
      cell(row.baseline),
      cell(row.gateway),
      ...peers.map((name) => cell(row.peers[name])),
      row.ratio === null ? '' : digits(row.ratio),
      row.gate,
      row.verdict === 'miss' ? '**miss**' : (row.verdict ?? ''),
    ]),
  );
  const notes = rows.filter(({ note }) => note !== '').map(({ figure, note }) => `- ${figure}: ${note}`);
  const table = [line(head), `|${head.map(() => '---').join('|')}|`, ...body].join('\n');
  return `${[table, ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')}\n`;
}

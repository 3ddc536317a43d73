/** Pattern of a spreadsheet's formula, behind blanks too. */
const FORMULA = /^[\s]*[=+\-@|%]|^[\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]/;
const END = '\r\n';

/** Value of a cell; null = empty. */
export type Cell = string | number | null;

/**
 * Returns a table as RFC 4180. A text that could run as a formula begins with an apostrophe; `amounts` are columns of
 * decimal strings, which are numbers and stay as they are.
 */
export function csvOf(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  amounts: ReadonlySet<string> = new Set(),
): string {
  const cellOf = (value: Cell, column: number): string =>
    amounts.has(head[column]) ? String(value ?? '') : textOf(value);
  return [head.map(textOf), ...rows.map((row) => row.map(cellOf))]
    .map((row) => `${row.join(',')}${END}`)
    .join('');
}

function textOf(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

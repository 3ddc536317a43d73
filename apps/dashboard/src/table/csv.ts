/** Pattern of a spreadsheet's formula, behind blanks too. */
const FORMULA = /^[\s]*[=+\-@|%]|^[\t\r\n]/;
const NEEDS_QUOTES = /[",\r\n]/;
/** Exact amounts are texts; a negative one is no formula. */
const DECIMAL = /^-?\d+(?:\.\d+)?$/;
const END = '\r\n';

/** Value of a cell; null = empty. */
export type Cell = string | number | null;

/**
 * Returns a table as RFC 4180. A text that could run as a formula begins with an apostrophe; a decimal number, such as an
 * amount, stays as it is.
 */
export function csvOf(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [head, ...rows].map((row) => `${row.map(textOf).join(',')}${END}`).join('');
}

function textOf(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number' || DECIMAL.test(value)) return String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

type Element = string | number | boolean | null;

const NEEDS_ESCAPE = /["\\]/;
const ESCAPED = /["\\]/g;

/**
 * PostgreSQL's text of an array. The driver's own way of writing one was a sixth of the CPU time of a batch: it takes
 * every element for a possible array.
 */
export function arrayLiteral(values: readonly Element[]): string {
  return `{${values.map(element).join(',')}}`;
}

function element(value: Element): string {
  if (value === null) return 'NULL';
  if (typeof value !== 'string') return String(value);
  return `"${NEEDS_ESCAPE.test(value) ? value.replace(ESCAPED, '\\$&') : value}"`;
}

/** A count as providers report it, however large: what cannot be is doubted when it is metered. null for what is none. */
export function wholeCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : null;
}

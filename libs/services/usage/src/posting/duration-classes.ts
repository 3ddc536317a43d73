/** Number of powers of two in which a duration is counted: from below 4 ms to above 17 minutes. */
export const DURATION_CLASSES = 20;

const INT_MAX = 2 ** 30;

/** k where 2^k <= ms < 2^(k+1), from 1 to DURATION_CLASSES. */
export function durationClass(ms: number): number {
  const power = 31 - Math.clz32(Math.min(Math.max(ms, 1), INT_MAX));
  return Math.min(Math.max(power, 1), DURATION_CLASSES);
}

/** SQL of the class of a column of milliseconds; null where the column is. */
export function durationClassSql(column: string): string {
  const bounds = Array.from({ length: DURATION_CLASSES - 1 }, (_, n) => 2 ** (n + 2));
  return `width_bucket(${column}, '{${bounds.join(',')}}'::float8[]) + 1`;
}

/**
 * The duration below which the fraction of all lies, in milliseconds; null where there are none. Within its class it is
 * taken as spread evenly, so the answer is off by less than the class is wide.
 */
export function percentileOf(classes: readonly number[], fraction: number): number | null {
  const total = classes.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let below = 0;
  for (const [index, count] of classes.entries()) {
    const inside = fraction * total - below;
    if (inside <= count && count > 0) return Math.round(2 ** (index + 1) * (1 + inside / count));
    below += count;
  }
  return null;
}

const TIMES_FROM = 10;

/** A week beside the one before it, in words. Null = there was nothing to compare it with. */
export function weekChange(ratio: number | null, more = 'more', less = 'less'): string {
  if (ratio === null) return 'Nothing the week before';
  if (ratio >= TIMES_FROM) return `${Math.round(ratio).toLocaleString('en-US')} times the week before`;
  const percent = Math.round(Math.abs(ratio - 1) * 100);
  if (percent === 0) return 'As the week before';
  // Less than nothing is left of it only where nothing is.
  const shown = ratio > 0 && ratio < 1 ? Math.min(percent, 99) : percent;
  return `${shown}% ${ratio > 1 ? more : less} than the week before`;
}

/** Null where there was nothing before. */
export function ratioOf(now: number, before: number | null): number | null {
  return before === null || before === 0 ? null : now / before;
}

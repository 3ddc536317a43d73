const TIMES_FROM = 10;

/** A figure beside that of a period before it, in words. Null = there was nothing to compare it with. */
export function changeInWords(ratio: number | null, before: string): string {
  if (ratio === null) return `Nothing ${before}`;
  if (ratio >= TIMES_FROM) return `${Math.round(ratio).toLocaleString('en-US')} times ${before}`;
  const percent = Math.round(Math.abs(ratio - 1) * 100);
  if (percent === 0) return `As ${before}`;
  // Less than nothing is left of it only where nothing is.
  const shown = ratio > 0 && ratio < 1 ? Math.min(percent, 99) : percent;
  return `${shown}% ${ratio > 1 ? 'more' : 'less'} than ${before}`;
}

/** An amount as the height of a bar, and as nothing else: a number rounds it. */
export function barHeight(amount: string): number {
  return Number.parseFloat(amount);
}

const DECIMALS_MAX = 12;

/** A height of an amount, in three digits; on an axis as many decimals as its `top` has. */
export function axisUsd(height: number, top = height): string {
  if (height === 0) return '$0';
  const decimals = top > 0 && top < 1_000 ? 2 - Math.floor(Math.log10(top)) : 2;
  const digits = Math.min(Math.max(0, decimals), DECIMALS_MAX);
  return new Intl.NumberFormat('en-US', {
    ...{ style: 'currency', currency: 'USD', notation: 'compact' },
    ...{ minimumFractionDigits: digits, maximumFractionDigits: digits },
  }).format(height);
}

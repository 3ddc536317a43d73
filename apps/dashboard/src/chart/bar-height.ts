/** An amount as the height of a bar, and as nothing else: a number rounds it. */
export function barHeight(amount: string): number {
  return Number.parseFloat(amount);
}

const dollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  minimumFractionDigits: 0,
  maximumSignificantDigits: 3,
});

/** A height on the axis of an amount. */
export function axisUsd(height: number): string {
  return height === 0 ? '$0' : dollars.format(height);
}

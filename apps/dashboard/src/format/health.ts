const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

/** The share of attempts that a provider answered. All below 100 % is shown below it. */
export function uptime(share: number | null): string {
  if (share === null) return 'no calls';
  return percent.format(share < 1 ? Math.min(share, 0.999) : share);
}

/** Tokens in a second. */
export function throughput(speed: number | null): string {
  if (speed === null) return '–';
  return `${speed.toLocaleString('en-US', { maximumFractionDigits: speed < 10 ? 1 : 0 })} tokens/s`;
}

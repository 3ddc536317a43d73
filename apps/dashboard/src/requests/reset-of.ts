const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const WINDOWS: Readonly<Record<string, number>> = { rpm: MINUTE_MS, tpm: MINUTE_MS, rpd: DAY_MS };

/** Returns the instant at which the rejecting counter began anew; null for limits without a clock, such as a cap. */
export function resetOf(limitType: string, rejectedAt: string): string | null {
  const windowMs = WINDOWS[limitType];
  if (windowMs === undefined) return null;
  return new Date((Math.floor(Date.parse(rejectedAt) / windowMs) + 1) * windowMs).toISOString();
}

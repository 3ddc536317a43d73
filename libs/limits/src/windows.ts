const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Fixed UTC minute that holds the instant, counted from the Unix epoch. */
export function minuteOf(nowMs: number): number {
  return Math.floor(nowMs / MINUTE_MS);
}

/** Fixed UTC day that holds the instant, counted from the Unix epoch. */
export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS);
}

/** Whole seconds until the minute rolls, rounded up: 1 to 60. */
export function minuteResetSeconds(nowMs: number): number {
  return Math.ceil((MINUTE_MS - (nowMs % MINUTE_MS)) / 1000);
}

/** Whole seconds until the UTC day rolls, rounded up: 1 to 86,400. */
export function dayResetSeconds(nowMs: number): number {
  return Math.ceil((DAY_MS - (nowMs % DAY_MS)) / 1000);
}

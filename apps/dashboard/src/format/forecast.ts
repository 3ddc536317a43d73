import { scaleUsd } from './money.js';

/** Part of a month that has to be over before its spend says anything of the whole. */
const ENOUGH = 0.03;

/** Returns the part of a month of UTC that is over at an instant, and its name, such as 2026-11. */
export function monthAt(atMs: number): { month: string; passed: number } {
  const at = new Date(atMs);
  const [first, next] = [0, 1].map((n) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + n, 1));
  return { month: at.toISOString().slice(0, 7), passed: (atMs - first) / (next - first) };
}

/** Returns the spend of a whole month at the pace of its part that is over; null where that is too short. */
export function forecastOf(spentUsd: string, passed: number): string | null {
  return passed < ENOUGH ? null : scaleUsd(spentUsd, 1 / Math.min(passed, 1));
}

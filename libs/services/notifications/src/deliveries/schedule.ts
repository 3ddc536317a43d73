import type { Random } from '@gateway/contracts';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** Pauses between the ten attempts. */
const PAUSES_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;
const JITTER = 0.2;

/**
 * Returns the pause after so many failures; null = exhausted. What the receiver asks for counts between the pause and
 * twice of it.
 */
export function pauseMs(failures: number, retryAfterMs: number | null, random: Random): number | null {
  if (failures < 1 || failures > PAUSES_MS.length) return null;
  const pause = PAUSES_MS[failures - 1] * (1 - JITTER + 2 * JITTER * random.fraction());
  return Math.round(retryAfterMs === null ? pause : Math.min(Math.max(retryAfterMs, pause), 2 * pause));
}

/** Retry-After as seconds or as a date; null where it is neither. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  const seconds = /^\d{1,9}$/.exec(header.trim());
  if (seconds !== null) return Number(header) * SECOND;
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

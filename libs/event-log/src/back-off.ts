import type { Random } from '@gateway/contracts';

const FIRST_MS = 50;
const MAX_MS = 10_000;

/** Doubling from 50 ms to 10 s, the upper half of it at random. */
export function backOffMs(failures: number, random: Random): number {
  const full = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 16), MAX_MS);
  return full * (0.5 + random.fraction() / 2);
}

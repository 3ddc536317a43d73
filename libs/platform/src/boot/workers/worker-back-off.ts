const FIRST_MS = 100;
const LONGEST_MS = 10_000;

/** How long to wait before a worker is started again that has died so often in a row: doubling, to ten seconds. */
export function backOffMs(deaths: number): number {
  return Math.min(FIRST_MS * 2 ** (deaths - 1), LONGEST_MS);
}

/** The time for which an organization retains what it logs. */
export interface ContentPromise {
  /** ISO 8601: it was said of what was made before then; null = it is said now, of everything. */
  until: string | null;
  days: number;
}

/** Days that contents are kept at most: as long as lookups reach. */
export const CONTENT_DAYS_MAX = 90;
const DAY_MS = 86_400_000;

/**
 * The earlier promises that still shorten something, once the one of `days` ends for one of `next` days. At most one for each
 * number of days: a later promise of fewer days holds for all that an earlier one holds for.
 */
export function promisesAfter(
  earlier: readonly ContentPromise[],
  { days, next, atMs }: { days: number; next: number; atMs: number },
): ContentPromise[] {
  const isAlive = ({ until }: ContentPromise): boolean =>
    until !== null && Date.parse(until) > atMs - CONTENT_DAYS_MAX * DAY_MS;
  const shorter = earlier.filter((promise) => promise.days < days && isAlive(promise));
  const ended = { until: new Date(atMs).toISOString(), days };
  return [...shorter, ended].filter((promise) => promise.days < next);
}

/** Returns the end of a content's retention: the shortest of all promises since it was written. */
export function retainedUntilMs(
  content: { created_at: Date; expires_at: Date },
  promises: readonly ContentPromise[],
): number {
  const madeMs = content.created_at.getTime();
  const days = promises
    .filter(({ until }) => until === null || madeMs < Date.parse(until))
    .map((promise) => promise.days);
  return Math.min(content.expires_at.getTime(), ...days.map((each) => madeMs + each * DAY_MS));
}

/** Returns the instant before which contents are past the retention of one of the promises. */
export function retainedFromMs(promises: readonly ContentPromise[], nowMs: number): number {
  const ends = promises.map(({ until, days }) =>
    Math.min(until === null ? Infinity : Date.parse(until), nowMs - days * DAY_MS + 1),
  );
  return Math.max(0, ...ends);
}

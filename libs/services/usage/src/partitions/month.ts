/** A month of UTC, and the ids of requests that came in it. */
export interface Month {
  /** End of its table's name: `2026_12`. */
  name: string;
  /** First id of the month. */
  from: string;
  /** First id of the month after it. */
  to: string;
}

/** Returns the month that is so many after that of a time. */
export function monthAfter(nowMs: number, months: number): Month {
  const now = new Date(nowMs);
  const startOf = (more: number): number => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + more, 1);
  const start = startOf(months);
  return {
    name: new Date(start).toISOString().slice(0, 7).replace('-', '_'),
    from: firstId(start),
    to: firstId(startOf(months + 1)),
  };
}

/** Returns the smallest `req_<uuidv7>` of a millisecond: its first 48 bits are the time. */
function firstId(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `req_${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

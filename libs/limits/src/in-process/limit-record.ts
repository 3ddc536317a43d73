import { dayOf, dayResetSeconds, minuteOf, minuteResetSeconds } from '../windows.js';
import type { AdmissionEntry, ReachedLimit } from '../admission.js';

/** Counts and money of one scope, of one extra counter or of the balance. */
export interface LimitRecord {
  minute: number;
  rpm: number;
  tpm: number;
  day: number;
  rpd: number;
  posted: number;
  /** Ledger version of posted; -1 = absent. */
  pver: number;
  /** History of the ledger that pver is of. */
  history: number;
  unposted: number;
  reserved: number;
  /** Worst cases of what is reserved. */
  worst: number;
  /** True where a mirror answered `missing`; posted is not known before. */
  valid: boolean;
}

export function newLimitRecord(): LimitRecord {
  return {
    minute: 0,
    rpm: 0,
    tpm: 0,
    day: 0,
    rpd: 0,
    posted: 0,
    pver: -1,
    history: 0,
    unposted: 0,
    reserved: 0,
    worst: 0,
    valid: false,
  };
}

/** Begins the windows that hold `now`. */
export function rollWindows(record: LimitRecord, now: number): void {
  if (record.minute !== minuteOf(now)) Object.assign(record, { minute: minuteOf(now), rpm: 0, tpm: 0 });
  if (record.day !== dayOf(now)) Object.assign(record, { day: dayOf(now), rpd: 0 });
}

/** The first limit of an entry that its record has reached, in the order of the Redis script. */
export function reachedInScope(
  entry: AdmissionEntry,
  record: LimitRecord,
  reservation: number,
  now: number,
): ReachedLimit | null {
  const count = (metric: 'rpm' | 'rpd' | 'tpm', resetsInSeconds: number): ReachedLimit | null =>
    record[metric] >= entry[metric]
      ? {
          entry,
          metric,
          current: record[metric],
          limit: entry[metric],
          resetsInSeconds,
          reservationsOnly: false,
          held: 0,
        }
      : null;
  const counted =
    count('rpm', minuteResetSeconds(now)) ??
    count('rpd', dayResetSeconds(now)) ??
    count('tpm', minuteResetSeconds(now));
  if (counted || reservation === 0) return counted;
  const spent = record.posted + record.unposted;
  if (spent + record.worst < entry.cap) return null;
  return {
    entry,
    metric: 'spend_cap',
    current: spent + record.worst,
    limit: entry.cap,
    resetsInSeconds: null,
    reservationsOnly: spent < entry.cap,
    held: record.worst,
  };
}

export function reachedBalance(
  record: LimitRecord,
  credit: number,
  reservation: number,
): ReachedLimit | null {
  const left = record.posted - record.unposted;
  if (reservation === 0 || left - record.worst + credit > 0) return null;
  return {
    entry: null,
    metric: 'balance',
    current: left - record.worst,
    limit: -credit,
    resetsInSeconds: null,
    reservationsOnly: left + credit > 0,
    held: record.worst,
  };
}

/** True if a further worst case fits beside all in flight. */
export function fits(
  record: LimitRecord,
  worst: number,
  limit: { cap: number } | { credit: number },
): boolean {
  return remainingOf(record, limit) >= worst;
}

/** Returns the rest of the limit beside everything in flight at its worst case. */
export function remainingOf(record: LimitRecord, limit: { cap: number } | { credit: number }): number {
  return 'cap' in limit
    ? limit.cap - record.posted - record.unposted - record.worst
    : limit.credit + record.posted - record.unposted - record.worst;
}

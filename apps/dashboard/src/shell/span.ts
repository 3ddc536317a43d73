import { dayOf, dayStart } from '../format/time.js';

/** Form of an instant in the URL: a range that is no whole days is between two of them. */
const MINUTE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z$/;
const HOUR_MS = 3_600_000;

export function isInstant(text: string | undefined): text is string {
  return text !== undefined && MINUTE.test(text) && !Number.isNaN(Date.parse(text));
}

/** The instant that a part of the URL's range stands for: itself, or where a day of the zone begins; null for what is neither. */
export function instantOf(text: string, zone: string, daysAfter = 0): string | null {
  return isInstant(text) ? new Date(text).toISOString() : dayStart(text, zone, daysAfter);
}

export interface Span {
  from: string;
  to: string;
  /** Days are other hours elsewhere: an address with days always has theirs. */
  zone: string;
}

/** Returns the URL's form of the time between two instants: days of the zone, both included, where those are whole. */
export function spanOf(fromMs: number, beforeMs: number, zone: string): Span {
  const [first, last] = [fromMs, beforeMs - 1].map((ms) => dayOf(isoOf(ms), zone));
  if (dayStart(first, zone) === isoOf(fromMs) && dayStart(last, zone, 1) === isoOf(beforeMs))
    return { from: first, to: last, zone };
  return { from: minuteOf(fromMs), to: minuteOf(beforeMs), zone };
}

interface Buckets {
  buckets: readonly { start: string }[];
  granularity: 'hour' | 'day' | 'week' | 'month';
  time_zone: string;
  since: string;
}

/** The hour or day of a bucket, as far as it is in the range. That of now runs to its end. */
export function spanOfBucket(series: Buckets, bucket: number, until?: string): Span {
  const { buckets, granularity, time_zone: zone, since } = series;
  const { start } = buckets[bucket];
  const from = Math.max(Date.parse(start), Date.parse(since));
  const own = granularity === 'hour' ? Date.parse(start) + HOUR_MS : dayEnd(start, zone);
  const end = bucket + 1 < buckets.length ? Date.parse(buckets[bucket + 1].start) : own;
  const last = until === undefined ? Infinity : Date.parse(until) + 1;
  return spanOf(from, Math.min(end, last), zone);
}

function dayEnd(start: string, zone: string): number {
  return Date.parse(dayStart(dayOf(start, zone), zone, 1) ?? start);
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

function minuteOf(ms: number): string {
  return `${isoOf(ms).slice(0, 16)}Z`;
}

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** Returns the time from or until an instant, in its largest whole unit. */
export function relativeTime(iso: string, nowMs: number): string {
  const seconds = Math.trunc((Date.parse(iso) - nowMs) / 1_000);
  if (!Number.isFinite(seconds)) return iso;
  const [unit, size] = STEPS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return relative.format(Math.trunc(seconds / size), unit);
}

/** Day and time in a named zone, with the zone. */
export function absoluteTime(iso: string, zone: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    year: 'numeric',
    month: 'short',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  }).format(at);
}

/** The start of a bucket on an axis. */
export function bucketLabel(
  iso: string,
  granularity: 'hour' | 'day' | 'week' | 'month',
  zone: string,
): string {
  const parts: Intl.DateTimeFormatOptions =
    granularity === 'hour'
      ? { hour: '2-digit', minute: '2-digit' }
      : granularity === 'month'
        ? { month: 'short', year: 'numeric' }
        : { month: 'short', day: 'numeric' };
  return new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...parts }).format(new Date(iso));
}

/** A minute of a zone that is named beside it. */
export function minuteLabel(iso: string, zone: string): string {
  const parts: Intl.DateTimeFormatOptions = { month: 'short', day: 'numeric' };
  const clock: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' };
  return new Intl.DateTimeFormat('en-GB', { timeZone: zone, ...parts, ...clock }).format(new Date(iso));
}

export function milliseconds(ms: number | null): string {
  if (ms === null) return '–';
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`;
}

/** Returns the use of a limit; null = there is none. */
export function usedOf(used: number, limit: number | null): string {
  return limit === null ? `${count(used)}, no limit` : `${count(used)} of ${count(limit)}`;
}

export function count(value: number | null): string {
  return value === null ? '–' : value.toLocaleString('en-US');
}

const MINUTE_MS = 60_000;

/** Returns the offset of a zone from UTC at an instant. */
function offsetMs(atMs: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  const name = parts.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const [, sign, hours, minutes] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? [];
  if (sign === undefined) return 0;
  const total = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  return sign === '-' ? -total : total;
}

/** The day of an instant on the calendar of a zone, as a date field writes it. */
export function dayOf(iso: string, zone: string): string {
  const shape: Intl.DateTimeFormatOptions = { year: 'numeric', month: '2-digit', day: '2-digit' };
  // Sweden writes dates as ISO 8601 does.
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone, ...shape }).format(new Date(iso));
}

/** The instant at which a day begins, or one so many days after it, on the calendar of a zone; null for what is no day. */
export function dayStart(day: string, zone: string, daysAfter = 0): string | null {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) return null;
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return null;
  const midnight = date.setUTCDate(date.getUTCDate() + daysAfter);
  // The offset is asked for twice: the first guess may be on the other side of a clock change.
  const guess = midnight - offsetMs(midnight, zone);
  return new Date(midnight - offsetMs(guess, zone)).toISOString();
}

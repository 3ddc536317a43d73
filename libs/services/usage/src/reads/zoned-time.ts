import { ApiError } from '@gateway/contracts';
import { isTimeZone } from '@gateway/platform';

const SLOT_MS = 900_000;
const MINUTE_MS = 60_000;
const SLOTS_MAX = 10_000;

/** Writes moments in a named zone, with its offset then. Throws ApiError `validation_error` for an unknown zone. */
export function zonedTime(timeZone: string): (at: Date) => string {
  const minutesAt = offsets(formatOf(timeZone));
  return (at) => {
    const minutes = minutesAt(at.getTime());
    if (minutes === 0) return at.toISOString();
    const local = new Date(at.getTime() + minutes * MINUTE_MS).toISOString().slice(0, -1);
    const size = Math.abs(minutes);
    const two = (n: number): string => String(n).padStart(2, '0');
    return `${local}${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  };
}

/** Offsets change at quarters of an hour only: each is asked for once. */
function offsets(format: Intl.DateTimeFormat): (at: number) => number {
  const known = new Map<number, number>();
  return (at) => {
    const slot = Math.floor(at / SLOT_MS) * SLOT_MS;
    let minutes = known.get(slot);
    if (minutes === undefined) {
      minutes = offsetOf(format, slot);
      if (known.size >= SLOTS_MAX) known.clear();
      known.set(slot, minutes);
    }
    return minutes;
  };
}

function offsetOf(format: Intl.DateTimeFormat, at: number): number {
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year, month, day, hour, minute } = parts;
  return Math.round((Date.UTC(year, month - 1, day, hour, minute) - at) / MINUTE_MS);
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  if (!isTimeZone(timeZone)) {
    const msg = 'time_zone is not a known IANA name.';
    const details = [{ type: 'value_error' as const, loc: ['time_zone'], msg }];
    throw new ApiError('validation_error', { message: msg, details });
  }
  const two = '2-digit';
  const fields = {
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    hourCycle: 'h23',
  } as const;
  return new Intl.DateTimeFormat('en-US', { timeZone, ...fields });
}

import { ApiError } from '@gateway/contracts';

export type MomentField = 'since' | 'until';

/** `+` and `-` before a year are of ISO 8601, too, and JavaScript reads them in the zone of the machine. */
const HAS_SIGN = /^[+-]/;
const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/;
const HAS_OFFSET = /(?:Z|[+-]\d{2}(?::?\d{2})?)$/i;
const DAY_MS = 86_400_000;

/**
 * The first moment of a `since`; of an `until` the first that is not covered any more: the next midnight after a bare
 * date, else one millisecond on. A bare date is a day of UTC, a time without an offset is UTC.
 */
export function momentOf(field: MomentField, text: string): Date {
  const isDate = BARE_DATE.test(text);
  const at = Date.parse(isDate || HAS_OFFSET.test(text) ? text : `${text}Z`);
  // Forms of ISO 8601 that JavaScript does not read, such as week dates.
  if (HAS_SIGN.test(text) || !Number.isFinite(at)) {
    const msg = 'Give a date such as 2026-11-21 or a time such as 2026-11-21T10:00:00Z.';
    throw new ApiError('validation_error', {
      message: msg,
      details: [{ type: 'time', loc: [field], msg }],
    });
  }
  if (field === 'since') return new Date(at);
  return new Date(at + (isDate ? DAY_MS : 1));
}

import { ApiError } from '@gateway/contracts';

type MomentField = 'since' | 'until';

/** From `from` on, before `before`; null is without a bound. */
export interface Times {
  from: Date | null;
  before: Date | null;
}

/** `+` and `-` before a year are of ISO 8601, too, and JavaScript reads them in the zone of the machine. */
const HAS_SIGN = /^[+-]/;
const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/;
const HAS_OFFSET = /(?:Z|[+-]\d{2}(?::?\d{2})?)$/i;
const DAY_MS = 86_400_000;

/**
 * The first moment of a `since`; of an `until` the first that is not covered any more: the next midnight after a bare
 * date, else one millisecond on. A bare date is a day of UTC, a time without an offset is UTC.
 */
function momentOf(field: MomentField, text: string): Date {
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

/**
 * The times that a read names. Throws ApiError `validation_error` for a time that cannot be read, `bad_request` where the
 * two are swapped.
 */
export function timesOf({ since, until }: { since?: string | null; until?: string | null }): Times {
  const read = (field: MomentField, text: string | null | undefined): Date | null =>
    text ? momentOf(field, text) : null;
  const from = read('since', since);
  const before = read('until', until);
  // Each is well-formed, so this is no fault of the schema; an empty answer would hide that the two were swapped.
  if (from !== null && before !== null && from >= before)
    throw new ApiError('bad_request', { message: 'since lies after until.', param: 'since' });
  return { from, before };
}

/** As Prisma takes them. */
export function createdWithin({ from, before }: Times): { created_at: { gte?: Date; lt?: Date } } {
  return { created_at: { ...(from && { gte: from }), ...(before && { lt: before }) } };
}

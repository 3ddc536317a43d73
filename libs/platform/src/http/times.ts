import { ApiError, type ErrorDetail } from '@gateway/contracts';

type MomentField = 'since' | 'until';

/** Range from `from` on, before `before`; null is without a bound. */
export interface Times {
  from: Date | null;
  before: Date | null;
}

/** `+` and `-` before a year are of ISO 8601, too, and JavaScript reads them in the zone of the machine. */
const HAS_SIGN = /^[+-]/;
const BARE_DATE = /^\d{4}-\d{2}-\d{2}$/;
const HAS_OFFSET = /(?:Z|[+-]\d{2}(?::?\d{2})?)$/i;
const DAY_MS = 86_400_000;

const READABLE = 'Give a date such as 2026-11-21 or a time such as 2026-11-21T10:00:00Z.';
/** Largest instant that PostgreSQL and ISO 8601 write with four digits of a year. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** A bare date is the midnight of UTC that begins it, a time without an offset is UTC; null for what is neither. */
function instantOf(text: string): number | null {
  const at = Date.parse(BARE_DATE.test(text) || HAS_OFFSET.test(text) ? text : `${text}Z`);
  // Forms of ISO 8601 that JavaScript does not read, such as week dates.
  return HAS_SIGN.test(text) || !Number.isFinite(at) ? null : at;
}

/**
 * The first moment of a `since`; of an `until` the first that is not covered any more: the next midnight after a bare
 * date, else one millisecond on.
 */
function momentOf(field: MomentField, text: string): Date {
  const at = instantOf(text);
  if (at === null) {
    const details = [{ type: 'pattern' as const, loc: [field], msg: READABLE }];
    throw new ApiError('validation_error', { message: READABLE, details });
  }
  if (field === 'since') return new Date(at);
  return new Date(at + (BARE_DATE.test(text) ? DAY_MS : 1));
}

/** A fault where an `expires_at` has passed, or cannot be kept, for a 422 `validation_error`; empty where there is none. */
export function expiryFaults(expiresAt: string | null | undefined, nowMs: number): ErrorDetail[] {
  if (expiresAt == null) return [];
  const at = instantOf(expiresAt);
  const fault = (msg: string): ErrorDetail[] => [{ type: 'value_error', loc: ['expires_at'], msg }];
  if (at === null) return fault(READABLE);
  if (at <= nowMs) return fault('expires_at must lie in the future.');
  return at <= LAST_MS ? [] : fault('expires_at must lie before the year 10000.');
}

/** An `expires_at` in which `expiryFaults` finds no fault. */
export function expiryOf(expiresAt: string | null | undefined): Date | null {
  const at = expiresAt == null ? null : instantOf(expiresAt);
  return at === null ? null : new Date(at);
}

const THREE_LETTERS = /^[a-z]{3}$/i;
/**
 * Names of three letters that are IANA's. Others mean one zone to JavaScript and another to PostgreSQL: IST is both
 * India and Israel.
 */
const SHORT_NAMES: ReadonlySet<string> = new Set(
  'CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '),
);

/** True if JavaScript and PostgreSQL read it alike as the name of a zone; offsets such as +05:30 are none. */
export function isTimeZone(name: string): boolean {
  if (!/^[a-z]/i.test(name)) return false;
  if (THREE_LETTERS.test(name) && !SHORT_NAMES.has(name.toUpperCase())) return false;
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false; // Intl throws for what it does not know.
  }
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
    throw new ApiError('bad_request', { message: 'since is later than until.', param: 'since' });
  return { from, before };
}

/** Returns the range as Prisma takes it. */
export function createdWithin({ from, before }: Times): { created_at: { gte?: Date; lt?: Date } } {
  return { created_at: { ...(from && { gte: from }), ...(before && { lt: before }) } };
}

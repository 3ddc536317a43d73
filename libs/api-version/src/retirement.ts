import type { ApiVersion, Retirement } from './api-version.js';

/** A version is served at least so long after its successor ships, and after its Deprecation header appears. */
const SERVED_MONTHS_MIN = { successor: 12, deprecation: 6 };

/**
 * Headers that announce a retirement on every answer of what retires.
 * Deprecation is an RFC 9745 date (`@<unix seconds>`), Sunset an RFC 8594 HTTP-date: two formats on purpose.
 */
export function retirementHeaders(retirement: Retirement): Record<string, string> {
  const { deprecated_on: deprecatedOn, sunset_on: sunsetOn, notes_url: notesUrl } = retirement;
  if (deprecatedOn === null) return {};
  return {
    Deprecation: `@${Date.parse(`${deprecatedOn}T00:00:00Z`) / 1000}`,
    ...(sunsetOn === null ? {} : { Sunset: new Date(`${sunsetOn}T00:00:00Z`).toUTCString() }),
    ...(notesUrl === null ? {} : { Link: `<${notesUrl}>; rel="deprecation"; type="text/html"` }),
  };
}

/**
 * Throws where a declared version would end before what callers were promised: a sunset needs a successor that shipped
 * 12 months earlier and a deprecation 6 months earlier, and the status says which of them has come.
 */
export function checkRetirement(version: ApiVersion, successor: ApiVersion | undefined): void {
  const { label, status, deprecated_on: deprecatedOn, sunset_on: sunsetOn } = version;
  const fault = (says: string): Error => new Error(`API version ${label}: ${says}.`);
  if (status === 'deprecated' && deprecatedOn === null) throw fault('it is deprecated without deprecated_on');
  if (status === 'sunset' && sunsetOn === null) throw fault('it is sunset without sunset_on');
  if (sunsetOn === null) return;
  if (successor === undefined) throw fault('sunset_on without a successor');
  if (deprecatedOn === null) throw fault('sunset_on without deprecated_on');
  if (sunsetOn < monthsAfter(successor.released, SERVED_MONTHS_MIN.successor))
    throw fault(`sunset_on is less than 12 months after ${successor.label} shipped`);
  if (sunsetOn < monthsAfter(deprecatedOn, SERVED_MONTHS_MIN.deprecation))
    throw fault('sunset_on is less than 6 months after deprecated_on');
}

/** A day `YYYY-MM-DD`; a month without that day ends later, never earlier. */
function monthsAfter(day: string, months: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCMonth(date.getUTCMonth() + months);
  return date.toISOString().slice(0, 10);
}

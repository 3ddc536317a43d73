import type { Retirement } from './api-version.js';

/**
 * Headers that announce a retirement on every answer of what retires (spec, Versioning 12).
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

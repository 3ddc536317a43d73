/** Names of zones as the gateway takes them: an offset is none. */
const ZONE = /^[A-Za-z][\w+-]*(?:\/[\w+-]+){0,2}$/;

/** True if a text names a zone that the browser knows. */
export function isZone(text: string): boolean {
  if (!ZONE.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

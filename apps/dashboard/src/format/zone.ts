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

/** Browsers list a zone under one of its names alone, Asia/Calcutta: a chosen one is there as it is kept. */
export function zonesWith(own: string): string[] {
  const { timeZone: browsers } = Intl.DateTimeFormat().resolvedOptions();
  return [...new Set(['UTC', browsers, own, ...Intl.supportedValuesOf('timeZone')])];
}

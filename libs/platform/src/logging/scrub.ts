/** What stands in a text in place of a credential. */
const REDACTED = '[redacted]';

/** Forms of credentials, the longest first where one holds another (reliability 6). */
const SECRETS: readonly RegExp[] = [
  /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  /\b(?:rsk|mak|whsec)_[\w+/=-]{6,}/g,
  /\bsk-[\w-]{8,}/g,
  /\bAIza[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g,
  /\barn:aws[\w-]*:[^\s"',;]+/g,
  /\bBearer\s+[\w.~+/=-]+/gi,
  /\bBasic\s+[A-Za-z0-9+/=]{8,}/g,
];
const USER_INFO = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi;
const QUERY = /(\bhttps?:\/\/[^\s?"'<>]+)\?[^\s"'<>]*/gi;
const LONG_BASE64 = /[A-Za-z0-9+/_-]{32,}={0,2}/g;
const ENTROPY_MIN = 4.2;

/** Takes credentials and what looks like one out of a text that goes to a log or a caller. */
export function scrub(text: string): string {
  let scrubbed = text;
  for (const pattern of SECRETS) scrubbed = scrubbed.replace(pattern, REDACTED);
  return scrubbed
    .replace(USER_INFO, `$1${REDACTED}@`)
    .replace(QUERY, `$1?${REDACTED}`)
    .replace(LONG_BASE64, (run) => (entropy(run) > ENTROPY_MIN ? REDACTED : run));
}

/** Shannon entropy in bits per character: words and ids of hex stay below 4.2, random base64 does not. */
function entropy(run: string): number {
  const counts = new Map<string, number>();
  for (const character of run) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / run.length) * Math.log2(count / run.length);
  return bits;
}

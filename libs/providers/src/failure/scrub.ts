const LONGEST_MESSAGE = 2_000;

/** What must not leave in a provider's message: credentials, cloud resource ids, accounts, addresses (spec, Errors; reliability 6). */
const SECRETS: readonly [RegExp, string][] = [
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, '[token]'],
  [/\b(?:sk|rk|pk|rsk|mak|gsk|xai|pplx|hf|key|csk|nvapi|fw|r8|tgp|whsec)[-_][A-Za-z0-9*_-]{6,}/g, '[key]'],
  [/\bAIza[\w-]{10,}/g, '[key]'],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{8,}/g, '[key]'],
  [/\b[Bb]earer\s+[\w.~+/=-]{6,}/g, 'Bearer [key]'],
  [/\barn:[\w-]*:[^\s"',)]+/g, '[resource]'],
  [/\bprojects\/[\w.:-]+(?:\/[\w.:-]+)*/g, '[resource]'],
  [/\/subscriptions\/[^\s"',)]+/g, '[resource]'],
  [/\b(?:org|proj|acct|user|asst)[-_][A-Za-z0-9]{8,}/g, '[id]'],
  [
    /\b(?:deployment|project|organization|account|workspace)(?: id| name)?s?\s*[:=]?\s*['"`]([^'"`]{1,200})['"`]/gi,
    '[id]',
  ],
  [/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '[address]'],
  [/\bhttps?:\/\/[^\s"'<>)]*[?][^\s"'<>)]*/g, '[address]'],
  [/\b\d{12}\b/g, '[id]'],
];

const LONG_TOKEN = /[A-Za-z0-9+/_=-]{32,}/g;

/** Shannon entropy in bits a character: random base64 is near 6, words and repeated letters well below 4.2. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** A provider's text without credentials, resource ids, accounts and addresses, cut to a readable length. */
export function scrub(message: string): string {
  let text = message.slice(0, LONGEST_MESSAGE);
  for (const [pattern, replacement] of SECRETS) text = text.replace(pattern, replacement);
  return text.replace(LONG_TOKEN, (token) => (entropy(token) > 4.2 ? '[key]' : token)).trim();
}

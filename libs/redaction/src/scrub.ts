const LONGEST_MESSAGE = 2_000;
const REDACTED = '[redacted]';

/**
 * Patterns that leave neither in a provider's message nor in a log line: credentials, cloud resource ids, accounts,
 * addresses. The longest form first where one holds another.
 */
const SECRETS: readonly RegExp[] = [
  /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  /\b(?:rsk|mak|whsec)_[\w+/=-]{6,}/g,
  /\b(?:sk|rk|pk|gsk|xai|pplx|hf|key|csk|nvapi|fw|r8|tgp)[-_][A-Za-z0-9*_-]{8,}/g,
  /\bAIza[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{8,}/g,
  /\b(?:Bearer|Basic)\s+[\w.~+/=-]{6,}/gi,
  /\barn:[\w-]*:[^\s"',;)]+/g,
];

/** A region of AWS or Google: which ones an account has is the operator's to tell. */
const REGION =
  /\b(?:us|eu|ap|ca|sa|me|af|il|mx|cn|europe|asia|australia|northamerica|southamerica|africa)(?:-gov|-iso[a-z]?)?-(?:(?:north|south)(?:east|west)?|east|west|central)-?[1-9]\d?(?:-?[a-f])?\b/gi;

/** Ids that show a caller our accounts at the provider. A log line of ours may hold the like of them. */
const ACCOUNTS: readonly RegExp[] = [
  /\bprojects\/[\w.:-]+(?:\/[\w.:-]+)*/g,
  /\/subscriptions\/[^\s"',)]+/g,
  /\b(?:org|proj|acct|user|asst)[-_][A-Za-z0-9]{8,}/g,
  /\b(?:deployment|project|organization|account|workspace|region)(?: id| name)?s?\s*[:=]?\s*['"`][^'"`]{1,200}['"`]/gi,
  // Google names a project without quotes: its name has a digit or a hyphen, or stands in a known sentence.
  /\bproject(?: number)?[\s:=#]+(?=[\w-]*[\d-])[\w-]{4,63}/gi,
  /(?<=\bused in project )[\w-]{4,63}/gi,
  /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g,
  /\b\d{12}\b/g,
  REGION,
];

/** A host that is none of the public web: without a dot, or of names that stand for a network of one's own. */
const INNER_HOST = String.raw`(?:localhost|[\w-]+|[\w.-]+\.(?:internal|intranet|local|localdomain|lan|corp|home|private|svc|test|invalid))`;
/** A host that shows an account: a resource of one customer in a cloud. */
const OWN_HOST = String.raw`[\w-]+(?:\.[\w-]+)*\.(?:azure\.com|amazonaws\.com|windows\.net|run\.app|modal\.run|runpod\.net)`;
const IPV4 = String.raw`(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)`;
const IPV6 = String.raw`(?:\[[0-9a-f:.]*:[0-9a-f:.]*\]|(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{0,4}::(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{1,4})`;
const PORT = String.raw`(?::\d{2,5})`;

/** Patterns of the addresses of a provider's servers. A page of the public web that a text points to stays. */
const ADDRESSES: readonly RegExp[] = [
  // With its path, which names servers and deployments too.
  new RegExp(
    String.raw`\b[a-z][a-z0-9+.-]*:\/\/(?:${INNER_HOST}|${OWN_HOST}|${IPV4}|${IPV6})${PORT}?(?=[\/\s"'<>),;?#]|\.?$)[^\s"'<>)]*`,
    'gi',
  ),
  // A port says that it is a server.
  new RegExp(String.raw`\b[a-z][a-z0-9+.-]*:\/\/[\w.-]+${PORT}[^\s"'<>)]*`, 'gi'),
  new RegExp(String.raw`(?<![\w.-])(?:${IPV4}${PORT}?|[\w-]+(?:\.[\w-]+)+${PORT})(?![\w.-]*\w)`, 'gi'),
  new RegExp(String.raw`(?<![\w:.])${IPV6}${PORT}?(?![\w:])`, 'gi'),
  new RegExp(
    String.raw`(?<![\w./-])(?:${OWN_HOST}|[\w-]+(?:\.[\w-]+)*\.(?:internal|intranet|localdomain|lan|corp|svc(?:\.cluster\.local)?|cluster\.local))(?![\w-])`,
    'gi',
  ),
  new RegExp(String.raw`(?<![\w./-])localhost${PORT}?(?![\w-])`, 'gi'),
];

const USER_INFO = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi;
const QUERY = /(\bhttps?:\/\/[^\s?"'<>]+)\?[^\s"'<>]*/gi;
const LONG_TOKEN = /[A-Za-z0-9+/_-]{32,}={0,2}/g;
const HIGHEST_ENTROPY = 4.2;

/** Shannon entropy in bits a character: random base64 is near 6, words, hex and repeated letters stay below 4.2. */
function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** A text without credentials and what looks like one: for log lines. */
export function scrub(text: string): string {
  let scrubbed = text;
  for (const pattern of SECRETS) scrubbed = scrubbed.replace(pattern, REDACTED);
  return scrubbed
    .replace(USER_INFO, `$1${REDACTED}@`)
    .replace(QUERY, `$1?${REDACTED}`)
    .replace(LONG_TOKEN, (token) => (entropy(token) > HIGHEST_ENTROPY ? REDACTED : token));
}

/** A provider's text for a caller: scrubbed, without our accounts and addresses there, cut to a readable length. */
export function scrubProviderText(message: string): string {
  let text = scrub(cut(message, LONGEST_MESSAGE));
  for (const pattern of [...ADDRESSES, ...ACCOUNTS]) text = text.replace(pattern, REDACTED);
  return text.trim();
}

/** The first characters, with whole surrogate pairs. */
export function cut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  const isParted = text.length > length && last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isParted ? length - 1 : length);
}

import { numberText, parseSpelled, spelledLike, writeJson } from '@gateway/json-body';

const REDACTED = '[redacted]';
/** Deeper than any body that a person or a client writes; what is below is not kept. */
const DEPTH_MAX = 64;

/**
 * Credentials. Each pattern takes all that it has looked at, or gives up after a bounded number of characters: a body that
 * somebody wrote to be slow costs no more than another.
 */
const SECRETS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]{1,40}KEY-----[A-Za-z0-9+/=\s]*/g,
  /\beyJ[\w-]{8,}(?:\.[\w-]+)*/g,
  /\b(?:rsk|mak|whsec)_[\w+/=-]{6,}/g,
  /\bAIza[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{8,}/g,
  /\b(?:Bearer|Basic)\s{1,8}[\w.~+/=-]{6,}/gi,
];
/** Pattern of provider keys: one is taken for a key only with a digit, because words are joined by the same marks. */
const PREFIXED =
  /\b(?:sk|rk|pk|gsk|xai|pplx|hf|key|csk|nvapi|fw|r8|tgp|ghp|gho|glpat|xoxb|xoxp)[-_][A-Za-z0-9*_-]{8,}/g;
/** `name:password@` of an address. */
const USER_INFO = /:\/\/[^\s/@:]{0,64}:[^\s/@]{1,64}@/g;
const LONG_TOKEN = /[A-Za-z0-9+/_-]{32,}={0,2}/g;
const HIGHEST_ENTROPY = 4.2;
const SAMPLE = 1_024;

const MAIL = /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}/g;
const IBAN = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b/g;
const TELEPHONE = /(?<![\w+])\+\d[\d ()./-]{6,18}\d(?!\d)/g;
const CARD = /(?<![\w.-])\d(?:[ -]?\d){13,18}(?![\w-])/g;

/** A parsed body without credentials, and without personal data where that is asked for; and how many places it were. */
export function redacted(
  body: unknown,
  { personal }: { personal: boolean },
): { body: unknown; redactions: number } {
  const redaction = new Redaction(personal);
  return { body: redaction.value(body, 0), redactions: redaction.places };
}

class Redaction {
  places = 0;
  private readonly mask = (): string => {
    this.places += 1;
    return REDACTED;
  };

  constructor(private readonly personal: boolean) {}

  value(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.number(value, null);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= DEPTH_MAX) return this.mask();
    const inner = (one: unknown, name: string | number): unknown =>
      typeof one === 'number' ? this.number(one, numberText(value, name)) : this.value(one, depth + 1);
    // As entries: a member called __proto__ stays a member.
    const copy = Array.isArray(value)
      ? value.map(inner)
      : Object.fromEntries(Object.entries(value).map(([name, one]) => [this.text(name), inner(one, name)]));
    return spelledLike(copy, value, (text) => writeJson(this.value(parseSpelled(text), depth + 1)));
  }

  /** `written` is the text of a number that a double does not hold as it was written. */
  private number(value: number, written: string | null): number | string {
    const digits = written ?? String(value);
    return this.personal && /^\d+$/.test(digits) && isCard(digits) ? this.mask() : value;
  }

  private text(text: string): string {
    if (text.length < 5) return text;
    let masked = text;
    for (const pattern of SECRETS) masked = masked.replace(pattern, this.mask);
    masked = masked
      .replace(PREFIXED, (found) => (/[0-9*]/.test(found) ? this.mask() : found))
      .replace(USER_INFO, () => `://${this.mask()}@`)
      .replace(LONG_TOKEN, (token) => (entropy(token) > HIGHEST_ENTROPY ? this.mask() : token));
    if (!this.personal) return masked;
    return masked
      .replace(MAIL, this.mask)
      .replace(IBAN, (found) => (isIban(found) ? this.mask() : found))
      .replace(CARD, (found) => (isCard(found) ? this.mask() : found))
      .replace(TELEPHONE, this.mask);
  }
}

/** Shannon entropy in bits a character of its beginning: random base64 is near 6, words and hex stay below 4.2. */
function entropy(token: string): number {
  const text = token.slice(0, SAMPLE);
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** 14 to 19 digits (13 has the time in milliseconds) whose last one is Luhn's. */
function isCard(found: string): boolean {
  const digits = found.replace(/\D/g, '');
  if (digits.length < 14 || digits.length > 19 || /^(\d)\1*$/.test(digits)) return false;
  let sum = 0;
  for (const [at, digit] of [...digits].reverse().entries()) {
    const twice = Number(digit) * (at % 2 === 0 ? 1 : 2);
    sum += twice > 9 ? twice - 9 : twice;
  }
  return sum % 10 === 0;
}

/** ISO 13616: the number that it spells leaves 1 when it is divided by 97. */
function isIban(found: string): boolean {
  const text = found.replaceAll(' ', '');
  if (text.length < 15 || text.length > 34) return false;
  let rest = 0;
  for (const character of text.slice(4) + text.slice(0, 4))
    rest = Number(`${rest}${Number.parseInt(character, 36)}`) % 97;
  return rest === 1;
}

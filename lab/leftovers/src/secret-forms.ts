import { isWellFormedSecret } from '@gateway/platform';

/** A secret of this product, known by its form. It is shown by its first characters alone. */
export interface FoundSecret {
  form: 'API key' | 'admin key' | 'signing secret' | 'session token' | 'client secret';
  start: string;
}

const SHOWN = 12;
const SESSION_TYPE = 'at+jwt';

interface Form {
  form: FoundSecret['form'];
  prefix: string;
  /** The longest that a secret of this form is looked for. */
  charsMax: number;
  pattern: RegExp;
  /** Check that a made-up text of that form does not pass. */
  isReal?: (text: string) => boolean;
}

const FORMS: readonly Form[] = [
  {
    ...{ form: 'API key', prefix: 'rsk_', charsMax: 53 },
    ...{ pattern: /rsk_[0-9A-Za-z]{49}/g, isReal: isWellFormedSecret },
  },
  {
    ...{ form: 'admin key', prefix: 'mak_', charsMax: 53 },
    ...{ pattern: /mak_[0-9A-Za-z]{49}/g, isReal: isWellFormedSecret },
  },
  { form: 'signing secret', prefix: 'whsec_', charsMax: 50, pattern: /whsec_[0-9A-Za-z+/]{43}=/g },
  {
    ...{ form: 'session token', prefix: 'eyJ', charsMax: 2_000 },
    ...{ pattern: /eyJ[\w-]{20,500}\.eyJ[\w-]{20,1000}\.[\w-]{86}/g, isReal: isSessionToken },
  },
  { form: 'client secret', prefix: 'ek_', charsMax: 8_192, pattern: /\bek_[\w-]{80,8189}/g },
];

/** Returns the secrets in a text, plain, in hex or in base64 of any alignment; each of them once. */
export function secretsIn(text: string): FoundSecret[] {
  const found = new Map<string, FoundSecret>();
  for (const form of FORMS) {
    for (const written of [text, ...decoded(text, form)]) {
      for (const [secret] of written.matchAll(form.pattern)) {
        if (form.isReal?.(secret) === false) continue;
        found.set(secret, { form: form.form, start: `${secret.slice(0, SHOWN)}...` });
      }
    }
  }
  return [...found.values()];
}

/** Yields the decoded parts of hex or base64 that begin like the secret. */
function* decoded(text: string, { prefix, charsMax }: Form): Generator<string> {
  const bytes = Buffer.from(prefix);
  for (const run of runsFrom(text, bytes.toString('hex'), /^[0-9a-f]+/i, 2 * charsMax))
    yield Buffer.from(run, 'hex').toString('latin1');
  for (const shift of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    // The character that holds bits of what stands before the prefix is not looked for; the prefix itself is known.
    const from = Math.ceil((shift * 8) / 6);
    const needle = encoded.slice(from, Math.floor(((shift + bytes.length) * 8) / 6));
    for (const run of runsFrom(text, needle, /^[0-9A-Za-z+/_-]+/, 2 * charsMax))
      yield prefix[0] + Buffer.from('A'.repeat(from) + run, 'base64').toString('latin1', shift + 1);
  }
}

function* runsFrom(text: string, needle: string, alphabet: RegExp, charsMax: number): Generator<string> {
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
    const [run] = alphabet.exec(text.slice(at, at + charsMax)) ?? [];
    if (run !== undefined) yield run;
  }
}

function isSessionToken(text: string): boolean {
  try {
    const header: unknown = JSON.parse(Buffer.from(text.slice(0, text.indexOf('.')), 'base64url').toString());
    return (header as { typ?: unknown } | null)?.typ === SESSION_TYPE;
  } catch {
    return false;
  }
}

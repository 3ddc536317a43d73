/**
 * Gemini signs its tool calls and refuses a later turn without the signature, and clients drop members that they do not
 * know. All of them send the id of a call back, so the signature travels in the id: no store, any edge can read it.
 */
const MARK = '__sig_';
/** Longer ones are left out; the provider then takes its own word for a lost signature. */
const SIGNATURE_MAX = 16_384;

/** The id that the caller sees: the call's own with its signature (base64) in letters that every format allows. */
export function signedToolId(id: string, signature: string): string {
  if (signature === '' || signature.length > SIGNATURE_MAX) return id;
  return id + MARK + signature.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** The signature in an id, null where there is none. */
export function toolSignature(id: string): string | null {
  const at = id.indexOf(MARK);
  if (at < 0) return null;
  const digits = id
    .slice(at + MARK.length)
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  return digits + '='.repeat((4 - (digits.length % 4)) % 4);
}

/** The id without its signature: what other providers are sent. */
export function plainToolId(id: string): string {
  const at = id.indexOf(MARK);
  return at < 0 ? id : id.slice(0, at);
}

/** A delivery as its receiver has it. */
export interface SignedDelivery {
  secret: string;
  timestamp: string;
  /** `v1=<hex>`; for a day after a rotation one term per secret, with commas between. */
  signature: string;
  /** Body, to the byte. */
  body: string;
}

/** `late` = the signature is right, and receivers should refuse it for its age. */
export type Verdict = 'valid' | 'late' | 'invalid' | 'unreadable';

const TERM = /^\s*v1=([0-9a-f]{64})\s*$/;
const AGE_MAX_S = 300;

/** Judges a delivery as docs/webhooks.md has receivers do it. The secret goes nowhere. */
export async function verdictOf(delivery: SignedDelivery, nowMs: number): Promise<Verdict> {
  const timestamp = delivery.timestamp.trim();
  const terms = delivery.signature.split(',').flatMap((term) => TERM.exec(term)?.[1] ?? []);
  if (!/^\d+$/.test(timestamp) || terms.length === 0) return 'unreadable';
  const expected = await hmac(delivery.secret.trim(), `${timestamp}.${delivery.body}`);
  if (!terms.includes(expected)) return 'invalid';
  return Math.abs(nowMs / 1_000 - Number(timestamp)) > AGE_MAX_S ? 'late' : 'valid';
}

async function hmac(secret: string, text: string): Promise<string> {
  const bytes = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes.encode(secret), algorithm, false, ['sign']);
  const digest = await crypto.subtle.sign('HMAC', key, bytes.encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

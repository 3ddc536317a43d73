import { createHmac } from 'node:crypto';

/**
 * Returns the stored form of a credential: HMAC-SHA256(pepper, SHA-256(secret)), hex. `digest` is the SHA-256 in hex.
 */
export function pepperedDigest(pepper: Uint8Array, digest: string): string {
  return createHmac('sha256', pepper).update(Buffer.from(digest, 'hex')).digest('hex');
}

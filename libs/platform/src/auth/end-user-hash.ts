import { createHmac } from 'node:crypto';

/**
 * Returns the form in which an end user is stored: an HMAC under the account's own key. The plain id is stored nowhere,
 * and an erasure finds all that was stored under the same form.
 */
export function endUserHash(endUserKey: Uint8Array, endUserId: string): string {
  return createHmac('sha256', endUserKey).update(endUserId).digest('base64url');
}

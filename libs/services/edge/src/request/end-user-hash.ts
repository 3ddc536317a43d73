import { createHmac } from 'node:crypto';
import type { KeyPrincipal } from '@gateway/contracts';

/**
 * Returns the form in which usage data stores an end user: an HMAC under the account's key, so that an erasure can find
 * and clear it.
 */
export function endUserHash(principal: KeyPrincipal, endUser: string): string | null {
  if (endUser === '') return null;
  return createHmac('sha256', Buffer.from(principal.endUserKey, 'base64'))
    .update(endUser)
    .digest('base64url');
}

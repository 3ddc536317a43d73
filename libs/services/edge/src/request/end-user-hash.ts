import type { KeyPrincipal } from '@gateway/contracts';
import { endUserHash } from '@gateway/platform';

/** Returns the stored form of an end user of the caller's account; null for one without a name. */
export function callerEndUserHash(principal: KeyPrincipal, endUser: string): string | null {
  if (endUser === '') return null;
  return endUserHash(Buffer.from(principal.endUserKey, 'base64'), endUser);
}

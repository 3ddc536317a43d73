import { endUserHash } from '@gateway/platform';
import type { Tx } from '../postgres/keys-database.js';

/** Returns the stored form of an end user of the account. */
export async function endUserHashOf(tx: Tx, accountId: string, endUserId: string): Promise<string> {
  const account = await tx.account.findUniqueOrThrow({
    where: { id: accountId },
    select: { end_user_key: true },
  });
  return endUserHash(account.end_user_key, endUserId);
}

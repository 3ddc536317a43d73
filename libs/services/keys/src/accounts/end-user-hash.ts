import { createHmac } from 'node:crypto';
import type { Tx } from '../postgres/keys-database.js';

/** Returns the form in which usage data knows an end user of an account: the plain id is kept nowhere. */
export async function endUserHashOf(tx: Tx, accountId: string, endUserId: string): Promise<string> {
  const account = await tx.account.findUniqueOrThrow({
    where: { id: accountId },
    select: { end_user_key: true },
  });
  return createHmac('sha256', account.end_user_key).update(endUserId).digest('base64url');
}

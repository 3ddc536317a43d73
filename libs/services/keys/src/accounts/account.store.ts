import { newId, type Clock, type Random } from '@gateway/contracts';
import { Prisma } from '../generated/prisma/client.js';
import type { Tx } from '../postgres/keys-database.js';

const END_USER_KEY_BYTES = 32;

/**
 * Locks the rows of accounts in the order of their ids: changes of one account are in order, and two changes of
 * several accounts never wait for each other. Keys of other requests may still be inserted beside it.
 */
export async function lockAccounts(tx: Tx, accountIds: readonly string[]): Promise<void> {
  if (accountIds.length === 0) return;
  await tx.$queryRaw`SELECT id FROM account WHERE id IN (${Prisma.join([...accountIds])}) ORDER BY id FOR NO KEY UPDATE`;
}

/**
 * Raises the version of an account in the transaction of a change and answers it. The row's lock puts changes of one
 * account in order, so that a principal read at version n shows all that n stands for.
 */
export async function bumpAccount(tx: Tx, accountId: string): Promise<number> {
  const { version } = await tx.account.update({
    where: { id: accountId },
    data: { version: { increment: 1 } },
    select: { version: true },
  });
  return version;
}

/** An account of one organization or of one person. */
export async function createAccount(
  tx: Tx,
  owner: { orgId: string; userId?: undefined } | { userId: string; orgId?: undefined },
  { clock, random }: { clock: Clock; random: Random },
  more: { opening_credit_usd?: string | null; credit_limit_usd?: string | null } = {},
): Promise<string> {
  const id = newId('acct', clock, random);
  await tx.account.create({
    data: {
      id,
      org_id: owner.orgId ?? null,
      user_id: owner.userId ?? null,
      end_user_key: new Uint8Array(random.bytes(END_USER_KEY_BYTES)),
      opening_credit_state: more.opening_credit_usd == null ? 'none' : 'pending',
      created_at: new Date(clock.now()),
      ...more,
    },
  });
  return id;
}

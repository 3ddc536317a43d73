import { newId, type Clock, type Random } from '@gateway/contracts';
import type { Tx } from '../postgres/keys-database.js';

const END_USER_KEY_BYTES = 32;

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
  openingCreditUsd: string | null = null,
): Promise<string> {
  const id = newId('acct', clock, random);
  await tx.account.create({
    data: {
      id,
      org_id: owner.orgId ?? null,
      user_id: owner.userId ?? null,
      end_user_key: new Uint8Array(random.bytes(END_USER_KEY_BYTES)),
      opening_credit_usd: openingCreditUsd,
      opening_credit_state: openingCreditUsd === null ? 'none' : 'pending',
      created_at: new Date(clock.now()),
    },
  });
  return id;
}

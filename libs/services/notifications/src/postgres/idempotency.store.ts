import type { IdempotencyClaim, IdempotencyRecord, IdempotencyStore } from '@gateway/database';
import type { Prisma } from '../generated/prisma/client.js';
import type { Tx } from './notifications-database.js';

/** Answers of creates by their Idempotency-Key, in the transaction of the create itself. No row holds a secret. */
export function idempotencyRows(tx: Tx): IdempotencyStore {
  return {
    claim: (claim, replaceBefore) => claimKey(tx, claim, replaceBefore),
    complete: async ({ scope, key }, { status, body }) => {
      const data = { status, body: JSON.parse(JSON.stringify(body)) as Prisma.InputJsonObject };
      await tx.idempotency.update({ where: { scope_key: { scope, key } }, data });
    },
    // The create failed, so the transaction rolls back and takes the claim with it.
    release: async () => undefined,
  };
}

async function claimKey(
  tx: Tx,
  { scope, key, bodyDigest, createdAt }: IdempotencyClaim,
  replaceBefore: Date,
): Promise<IdempotencyRecord | null> {
  const taken = await tx.$executeRaw`
    INSERT INTO idempotency (scope, key, body_digest, created_at)
    VALUES (${scope}, ${key}, ${bodyDigest}, ${createdAt})
    ON CONFLICT (scope, key) DO UPDATE
      SET body_digest = excluded.body_digest, created_at = excluded.created_at, status = NULL, body = NULL
      WHERE idempotency.created_at < ${replaceBefore}`;
  if (taken === 1) return null;
  // Not the same statement: the row may have been committed after that one began.
  const row = await tx.idempotency.findUniqueOrThrow({ where: { scope_key: { scope, key } } });
  const body = row.body as Readonly<Record<string, unknown>> | null;
  const answer = row.status === null || body === null ? null : { status: row.status, body };
  return { scope, key, bodyDigest: row.body_digest, createdAt: row.created_at, answer };
}

import type { IdempotencyClaim, IdempotencyRecord, IdempotencyStore } from '@gateway/database';
import type { Prisma } from '../generated/prisma/client.js';
import type { UsageDatabase } from './usage-database.js';

type Answer = NonNullable<IdempotencyRecord['answer']>;

/** Answers of creates, by caller, endpoint and Idempotency-Key. */
export class UsageIdempotency implements IdempotencyStore {
  constructor(private readonly database: UsageDatabase) {}

  async claim(
    { scope, key, bodyDigest, createdAt }: IdempotencyClaim,
    replaceBefore: Date,
    abandonedBefore: Date,
  ): Promise<IdempotencyRecord | null> {
    const taken = await this.database.prisma.$executeRaw`
      INSERT INTO idempotency AS i (scope, key, body_digest, created_at)
      VALUES (${scope}, ${key}, ${bodyDigest}, ${createdAt})
      ON CONFLICT (scope, key) DO UPDATE
        SET body_digest = excluded.body_digest, created_at = excluded.created_at, status = NULL, body = NULL
        WHERE i.created_at < ${replaceBefore} OR (i.status IS NULL AND i.created_at < ${abandonedBefore})`;
    if (taken === 1) return null;
    const row = await this.database.prisma.idempotency.findUnique({ where: { scope_key: { scope, key } } });
    // Released between the two statements: the caller may try again.
    if (row === null) return { scope, key, bodyDigest, createdAt, answer: null };
    const body = (row.body ?? {}) as Answer['body'];
    const answer = row.status === null ? null : { status: row.status, body };
    return { scope, key, bodyDigest: row.body_digest, createdAt: row.created_at, answer };
  }

  async complete({ scope, key }: IdempotencyClaim, { status, body }: Answer): Promise<void> {
    await this.database.prisma.idempotency.update({
      where: { scope_key: { scope, key } },
      data: { status, body: JSON.parse(JSON.stringify(body)) as Prisma.InputJsonObject },
    });
  }

  async release({ scope, key }: IdempotencyClaim): Promise<void> {
    await this.database.prisma.idempotency.deleteMany({ where: { scope, key, status: null } });
  }
}

import { Injectable } from '@nestjs/common';
import type { IdempotencyClaim, IdempotencyRecord, IdempotencyStore } from '@gateway/database';
import type { Prisma } from '../generated/prisma/client.js';
import { KeysDatabase } from '../postgres/keys-database.js';

interface Row {
  scope: string;
  key: string;
  body_digest: string;
  created_at: Date;
  status: number | null;
  body: Record<string, unknown> | null;
  is_ours: boolean;
}

/** Answers of creates by their Idempotency-Key. No row holds a secret. */
@Injectable()
export class IdempotencyRows implements IdempotencyStore {
  constructor(private readonly database: KeysDatabase) {}

  async claim(
    { scope, key, bodyDigest, createdAt }: IdempotencyClaim,
    replaceBefore: Date,
    abandonedBefore: Date,
  ): Promise<IdempotencyRecord | null> {
    const rows = await this.database.prisma.$queryRaw<Row[]>`
      WITH taken AS (
        INSERT INTO idempotency (scope, key, body_digest, created_at)
        VALUES (${scope}, ${key}, ${bodyDigest}, ${createdAt})
        ON CONFLICT (scope, key) DO UPDATE
          SET body_digest = excluded.body_digest, created_at = excluded.created_at, status = NULL, body = NULL
          WHERE idempotency.created_at < ${replaceBefore}
            OR (idempotency.status IS NULL AND idempotency.created_at < ${abandonedBefore})
        RETURNING *)
      SELECT *, true AS is_ours FROM taken
      UNION ALL
      SELECT *, false FROM idempotency WHERE scope = ${scope} AND key = ${key} AND NOT EXISTS (SELECT 1 FROM taken)`;
    const held = rows.find((row) => !row.is_ours);
    if (rows.length > 0 && held === undefined) return null;
    // Taken by a request that committed after this statement began: its answer is still under way to us.
    if (held === undefined) return { scope, key, bodyDigest, createdAt, answer: null };
    const answer =
      held.status === null || held.body === null ? null : { status: held.status, body: held.body };
    return { scope, key, bodyDigest: held.body_digest, createdAt: held.created_at, answer };
  }

  async complete(
    { scope, key }: IdempotencyClaim,
    { status, body }: { status: number; body: Readonly<Record<string, unknown>> },
  ): Promise<void> {
    const json = JSON.parse(JSON.stringify(body)) as Prisma.InputJsonObject;
    await this.database.prisma.idempotency.update({
      where: { scope_key: { scope, key } },
      data: { status, body: json },
    });
  }

  async release({ scope, key }: IdempotencyClaim): Promise<void> {
    await this.database.prisma.idempotency.deleteMany({ where: { scope, key, status: null } });
  }

  async deleteBefore(time: Date): Promise<void> {
    await this.database.prisma.idempotency.deleteMany({ where: { created_at: { lt: time } } });
  }
}

import type { IdempotencyClaim, IdempotencyRecord, IdempotencyStore } from '@gateway/database';
import type { UsageDatabase } from './usage-database.js';

interface Row {
  scope: string;
  key: string;
  body_digest: string;
  created_at: Date;
  status: number | null;
  body: Readonly<Record<string, unknown>> | null;
}

/** Answers of creates, by caller, endpoint and Idempotency-Key. */
export class UsageIdempotency implements IdempotencyStore {
  constructor(private readonly database: UsageDatabase) {}

  async claim(
    { scope, key, bodyDigest, createdAt }: IdempotencyClaim,
    replaceBefore: Date,
    abandonedBefore: Date,
  ): Promise<IdempotencyRecord | null> {
    const { rowCount } = await this.database.pool.query(
      `INSERT INTO idempotency AS i (scope, key, body_digest, created_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT (scope, key) DO UPDATE
         SET body_digest = excluded.body_digest, created_at = excluded.created_at, status = NULL, body = NULL
         WHERE i.created_at < $5 OR (i.status IS NULL AND i.created_at < $6)`,
      [scope, key, bodyDigest, createdAt, replaceBefore, abandonedBefore],
    );
    if (rowCount === 1) return null;
    const { rows } = await this.database.pool.query<Row>(
      'SELECT scope, key, body_digest, created_at, status, body FROM idempotency WHERE scope = $1 AND key = $2',
      [scope, key],
    );
    // Released between the two statements: the caller may try again.
    const [row] = rows;
    if (row === undefined) return { scope, key, bodyDigest, createdAt, answer: null };
    const answer = row.status === null ? null : { status: row.status, body: row.body ?? {} };
    return { scope, key, bodyDigest: row.body_digest, createdAt: row.created_at, answer };
  }

  async complete(
    { scope, key }: IdempotencyClaim,
    { status, body }: NonNullable<IdempotencyRecord['answer']>,
  ): Promise<void> {
    await this.database.pool.query(
      'UPDATE idempotency SET status = $3, body = $4 WHERE scope = $1 AND key = $2',
      [scope, key, status, JSON.stringify(body)],
    );
  }

  async release({ scope, key }: IdempotencyClaim): Promise<void> {
    await this.database.pool.query(
      'DELETE FROM idempotency WHERE scope = $1 AND key = $2 AND status IS NULL',
      [scope, key],
    );
  }
}

import type { IdempotencyClaim, IdempotencyRecord, IdempotencyStore } from './idempotent.js';

type Answer = NonNullable<IdempotencyRecord['answer']>;

/** Statements of a pool or of one transaction, as a Prisma client has them. */
export interface SqlStatements {
  $executeRaw(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<number>;
  $queryRaw<T>(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<T>;
}

interface Row {
  body_digest: string;
  created_at: Date;
  status: number | null;
  body: Answer['body'] | null;
}

/** The table of answers that `IdempotencyStore` describes, in a service's own database. No row holds a secret. */
export class IdempotencyTable implements IdempotencyStore {
  constructor(private readonly sql: SqlStatements) {}

  /**
   * The table inside the transaction of the create itself: a key is taken if and only if its create was committed, and a
   * second request waits for the first.
   */
  static within(transaction: SqlStatements): IdempotencyStore {
    const table = new IdempotencyTable(transaction);
    return {
      claim: (...call) => table.claim(...call),
      complete: (...call) => table.complete(...call),
      // The create failed: its transaction rolls back and takes the claim with it, and may refuse every statement.
      release: async () => undefined,
    };
  }

  async claim(
    { scope, key, bodyDigest, createdAt }: IdempotencyClaim,
    replaceBefore: Date,
    abandonedBefore: Date,
  ): Promise<IdempotencyRecord | null> {
    const taken = await this.sql.$executeRaw`
      INSERT INTO idempotency AS i (scope, key, body_digest, created_at)
      VALUES (${scope}, ${key}, ${bodyDigest}, ${createdAt})
      ON CONFLICT (scope, key) DO UPDATE
        SET body_digest = excluded.body_digest, created_at = excluded.created_at, status = NULL, body = NULL
        WHERE i.created_at < ${replaceBefore} OR (i.status IS NULL AND i.created_at < ${abandonedBefore})`;
    if (taken === 1) return null;
    // Not the same statement: the row may have been committed after that one began.
    const [row] = await this.sql.$queryRaw<Row[]>`
      SELECT body_digest, created_at, status, body FROM idempotency WHERE scope = ${scope} AND key = ${key}`;
    // Released between the two statements: the caller may try again.
    if (row === undefined) return { scope, key, bodyDigest, createdAt, answer: null };
    const answer = row.status === null ? null : { status: row.status, body: row.body ?? {} };
    return { scope, key, bodyDigest: row.body_digest, createdAt: row.created_at, answer };
  }

  async complete({ scope, key }: IdempotencyClaim, { status, body }: Answer): Promise<void> {
    await this.sql.$executeRaw`
      UPDATE idempotency SET status = ${status}, body = ${JSON.stringify(body)}::jsonb
      WHERE scope = ${scope} AND key = ${key}`;
  }

  async release({ scope, key }: IdempotencyClaim): Promise<void> {
    await this.sql.$executeRaw`
      DELETE FROM idempotency WHERE scope = ${scope} AND key = ${key} AND status IS NULL`;
  }

  async forgetBefore(time: Date): Promise<void> {
    await this.sql.$executeRaw`DELETE FROM idempotency WHERE created_at < ${time}`;
  }
}

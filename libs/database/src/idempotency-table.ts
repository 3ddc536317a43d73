import { isSpelled, parseSpelled, writeJson } from '@gateway/json-body';
import {
  IdempotencyStore,
  type IdempotencyClaim,
  type IdempotencyRecord,
  type StoredAnswer,
} from '@gateway/contracts';

/** Statements of a pool or of one transaction, as a Prisma client has them. */
export interface SqlStatements {
  $executeRaw(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<number>;
  $queryRaw<T>(query: TemplateStringsArray, ...values: unknown[]): PromiseLike<T>;
}

interface Row {
  body_digest: string;
  status: number | null;
  /** The answer's; before there is one, who holds the key, and what that request has begun. */
  body: StoredAnswer['body'] | null;
  is_abandoned: boolean;
}

/**
 * Answers to creates in a service's own database: idempotency(scope text, key text, body_digest text, created_at
 * timestamptz, status int null, body jsonb null, primary key (scope, key)). Rows older than a day may be deleted at any
 * time. None holds a secret.
 */
export class IdempotencyTable extends IdempotencyStore {
  constructor(private readonly sql: SqlStatements) {
    super();
  }

  /**
   * The table inside the transaction of the create itself: a key is taken if and only if its create was committed, and a
   * second request waits for the first.
   */
  static within(transaction: SqlStatements): IdempotencyStore {
    const table = new IdempotencyTable(transaction);
    // The create failed: its transaction rolls back and takes the claim with it, and may refuse every statement.
    table.release = async () => undefined;
    return table;
  }

  /** A record that is no older than `since` holds the key. Takes nothing. */
  async isTaken(scope: string, key: string, since: Date): Promise<boolean> {
    const found = await this.sql.$queryRaw<unknown[]>`
      SELECT 1 FROM idempotency WHERE scope = ${scope} AND key = ${key} AND created_at >= ${since}`;
    return found.length > 0;
  }

  override async claim(
    { scope, key, bodyDigest, owner, createdAt }: IdempotencyClaim,
    replaceBefore: Date,
    abandonedBefore: Date,
  ): Promise<IdempotencyRecord | null> {
    const held = JSON.stringify({ owner });
    const taken = await this.sql.$executeRaw`
      INSERT INTO idempotency AS i (scope, key, body_digest, created_at, body)
      VALUES (${scope}, ${key}, ${bodyDigest}, ${createdAt}, ${held}::jsonb)
      ON CONFLICT (scope, key) DO UPDATE
        SET body_digest = excluded.body_digest, created_at = excluded.created_at, status = NULL, body = excluded.body
        WHERE i.created_at < ${replaceBefore}
          OR (i.status IS NULL AND (i.body->>'owner' = ${owner}
            OR (i.created_at < ${abandonedBefore} AND i.body->'begun' IS NULL)))`;
    if (taken === 1) return null;
    // Not the same statement: the row may have been committed after that one began.
    const [row] = await this.sql.$queryRaw<Row[]>`
      SELECT body_digest, status, body, created_at < ${abandonedBefore} AS is_abandoned
      FROM idempotency WHERE scope = ${scope} AND key = ${key}`;
    // Released between the two statements: the caller may try again.
    if (row === undefined) return { bodyDigest, answer: null };
    return { bodyDigest: row.body_digest, answer: answerIn(row) };
  }

  override async renew({ scope, key, owner, createdAt }: IdempotencyClaim): Promise<void> {
    await this.sql.$executeRaw`
      UPDATE idempotency SET created_at = ${createdAt}
      WHERE scope = ${scope} AND key = ${key} AND status IS NULL AND body->>'owner' = ${owner}`;
  }

  override async complete(
    { scope, key, owner }: IdempotencyClaim,
    { status, body }: StoredAnswer,
  ): Promise<boolean> {
    const answer = storedBody(body);
    const kept = await this.sql.$executeRaw`
      UPDATE idempotency SET status = ${status}, body = ${answer}::jsonb
      WHERE scope = ${scope} AND key = ${key}
        AND ((status IS NULL AND body->>'owner' = ${owner}) OR (status = ${status} AND body = ${answer}::jsonb))`;
    return kept === 1;
  }

  /**
   * Stores the answer that a repeat gets if the request dies from here on: the work it began goes on without it. Null:
   * nothing was begun after all. Returns false if the key belongs to another request by now.
   */
  async begun({ scope, key, owner }: IdempotencyClaim, answer: StoredAnswer | null): Promise<boolean> {
    const begun = answer ? `,"begun":{"status":${answer.status},"body":${storedBody(answer.body)}}` : '';
    const held = `{"owner":${JSON.stringify(owner)}${begun}}`;
    const noted = await this.sql.$executeRaw`
      UPDATE idempotency SET body = ${held}::jsonb
      WHERE scope = ${scope} AND key = ${key} AND status IS NULL AND body->>'owner' = ${owner}`;
    return noted === 1;
  }

  /** Releases the claim, but not of a request that has begun something: a repeat finds that. */
  override async release({ scope, key, owner }: IdempotencyClaim): Promise<void> {
    await this.sql.$executeRaw`
      DELETE FROM idempotency
      WHERE scope = ${scope} AND key = ${key} AND status IS NULL AND body->>'owner' = ${owner}
        AND body->'begun' IS NULL`;
  }

  async forgetBefore(time: Date): Promise<void> {
    await this.sql.$executeRaw`DELETE FROM idempotency WHERE created_at < ${time}`;
  }
}

/**
 * Escapes that jsonb refuses wherever they stand: a NUL, half of a surrogate pair. Callers' own texts may hold both. It also
 * changes numbers, the order and the repetition of names.
 */
const REFUSED = /\\u(?:0000|d[89a-f])/;
/** The one member of a body that is kept as text instead. No answer has it. */
const AS_TEXT = '$base64';

function storedBody(body: StoredAnswer['body']): string {
  const json = writeJson(body);
  return REFUSED.test(json) || (isSpelled(body) && json !== JSON.stringify(body))
    ? JSON.stringify({ [AS_TEXT]: Buffer.from(json).toString('base64') })
    : json;
}

/** Null while its request is under way; of one that died what it had begun. */
function answerIn({ status, body, is_abandoned }: Row): StoredAnswer | null {
  if (status !== null) return { status, body: bodyIn(body ?? {}) };
  const { begun } = (body ?? {}) as { begun?: StoredAnswer };
  return is_abandoned && begun !== undefined ? { ...begun, body: bodyIn(begun.body) } : null;
}

function bodyIn(stored: StoredAnswer['body']): StoredAnswer['body'] {
  const { [AS_TEXT]: text } = stored;
  if (typeof text !== 'string') return stored;
  return parseSpelled(Buffer.from(text, 'base64').toString()) as StoredAnswer['body'];
}

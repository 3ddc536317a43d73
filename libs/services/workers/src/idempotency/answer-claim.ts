import { ApiError, type IdempotencyClaim, type StoredAnswer } from '@gateway/contracts';
import { IdempotencyTable, poolStatements } from '@gateway/database';
import type pg from 'pg';

/**
 * The answer to a request with an Idempotency-Key, in the transaction of what it made. Throws ApiError `conflict` where another
 * request holds the key by now.
 */
export async function answerClaim(
  client: pg.ClientBase,
  claim: IdempotencyClaim | null,
  body: object,
): Promise<void> {
  if (claim !== null && !(await tableOf(client).complete(claim, answerOf(body)))) throw taken();
}

/** The same of what is not answered yet, and goes on if this process dies: a repeat then gets `body`. */
export async function noteBegun(
  client: pg.ClientBase,
  claim: IdempotencyClaim | null,
  body: object,
): Promise<void> {
  if (claim !== null && !(await tableOf(client).begun(claim, answerOf(body)))) throw taken();
}

/** Forgets the claim in the transaction that undoes what was begun. */
export async function forgetBegun(client: pg.ClientBase, claim: IdempotencyClaim | null): Promise<void> {
  if (claim !== null) await tableOf(client).begun(claim, null);
}

function tableOf(client: pg.ClientBase): IdempotencyTable {
  return new IdempotencyTable(poolStatements(client));
}

function answerOf(body: object): StoredAnswer {
  return { status: 200, body: body as StoredAnswer['body'] };
}

function taken(): ApiError {
  return new ApiError('conflict', {
    message: 'Another request with this Idempotency-Key has begun meanwhile.',
  });
}

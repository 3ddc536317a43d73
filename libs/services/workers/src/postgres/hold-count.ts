import type pg from 'pg';

/** Holds the count of the key until the end of the transaction: two creates at once would both pass with one left. */
export async function holdCount(
  client: Pick<pg.ClientBase, 'query'>,
  counted: 'files' | 'conversations' | 'batches' | 'videos' | 'background responses',
  keyId: string,
): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))`, [
    `workers.${counted}`,
    keyId,
  ]);
}

import type { UsageDatabase } from '../postgres/usage-database.js';

/** Returns the ids of the next customers' accounts, in their order. */
export async function accountsAfter(id: string, limit: number, database: UsageDatabase): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    "SELECT id FROM account WHERE id > $1 AND kind = 'customer' ORDER BY id LIMIT $2",
    [id, limit],
  );
  return rows.map((row) => row.id);
}

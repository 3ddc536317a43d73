import { providerAccount } from '@gateway/contracts';
import type { UsageDatabase } from '../postgres/usage-database.js';

/** Returns the ids of the next customers' accounts, in their order. */
export async function accountsAfter(id: string, limit: number, database: UsageDatabase): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    "SELECT id FROM account WHERE id > $1 AND kind = 'customer' ORDER BY id LIMIT $2",
    [id, limit],
  );
  return rows.map((row) => row.id);
}

/** Returns those of these customers' accounts that the ledger has never heard of, each once. */
export async function unknownAccounts(ids: readonly string[], database: UsageDatabase): Promise<string[]> {
  const { rows } = await database.pool.query<{ id: string }>(
    `SELECT DISTINCT s.id FROM unnest($1::text[]) AS s(id)
     WHERE NOT EXISTS (SELECT 1 FROM account a WHERE a.id = s.id) AND NOT starts_with(s.id, $2)`,
    [ids, providerAccount('')],
  );
  return rows.map((row) => row.id);
}

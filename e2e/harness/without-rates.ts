import { Client } from 'pg';
import type { Fleet } from './fleet.js';

/** Raises a key's limits of requests over what a tier allows, before its first use: a drill sends more than those. */
export async function withoutRates(
  { databaseUrl }: Pick<Fleet, 'databaseUrl'>,
  keyId: string,
): Promise<void> {
  const database = new Client({ connectionString: databaseUrl });
  await database.connect();
  const raise = 'UPDATE keys.api_key SET rpm_limit = $2, rpd_limit = $2 WHERE id = $1';
  await database.query(raise, [keyId, 1_000_000]).finally(() => database.end());
}

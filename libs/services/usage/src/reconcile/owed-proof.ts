import { providerAccount } from '@gateway/contracts';
import type pg from 'pg';
import { owedSql } from '../posting/provider-slots.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import type { Finding } from './finding.js';
import type { Queryable } from './ledger-proof.js';

const SCOPE = /^provider:(.+) (\S+)$/;
/** Condition of the events that are added up. */
const ADDED_UP = 'e.request_id >= (SELECT owed_from FROM spend_window)';

/** Quarters of an hour of a provider that are not what its events cost the platform. One statement, hence one snapshot. */
const DIFFERENT = `
SELECT 'owed_differs' AS kind, NULL AS account,
  'provider:' || provider || ' ' || to_char(slot AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"') AS scope,
  trim_scale(coalesce(e.amount, 0))::text AS expected, trim_scale(coalesce(s.amount, 0))::text AS found
FROM (${owedSql(ADDED_UP)}) AS e FULL JOIN provider_slot AS s USING (provider, slot)
WHERE coalesce(e.amount, 0) <> coalesce(s.amount, 0)`;

/** Returns differences between the sums behind budgets of providers and the events. It reads each event once. */
export async function owedFindings(database: Queryable): Promise<Finding[]> {
  return (await database.query<Finding>(DIFFERENT)).rows;
}

/** Adds quarters of an hour that differ up anew. Of each all postings wait for one statement. */
export async function rebuildOwed(findings: readonly Finding[], database: UsageDatabase): Promise<void> {
  const slots = new Map<string, string[]>();
  for (const { kind, scope } of findings) {
    const [, provider, slot] = (kind === 'owed_differs' && SCOPE.exec(scope ?? '')) || [];
    if (slot !== undefined) slots.set(slot, [...(slots.get(slot) ?? []), providerAccount(provider)]);
  }
  for (const [slot, accounts] of slots)
    await database.transaction((client) => rebuildSlot(client, slot, accounts));
}

/** Raises the versions too: the limit store takes no equal one back. */
async function rebuildSlot(client: pg.PoolClient, slot: string, accounts: readonly string[]): Promise<void> {
  await client.query('SELECT FROM spend_window FOR UPDATE');
  await client.query('DELETE FROM provider_slot WHERE slot = $1', [slot]);
  const within = `e.created_at >= $1::timestamptz AND e.created_at < $1::timestamptz + interval '15 minutes'`;
  await client.query(
    `INSERT INTO provider_slot (provider, slot, amount) ${owedSql(`${ADDED_UP} AND ${within}`)}`,
    [slot],
  );
  await client.query('UPDATE account SET version = version + 1 WHERE id = ANY($1)', [accounts]);
}

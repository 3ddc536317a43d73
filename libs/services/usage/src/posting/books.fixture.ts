import { emptyTables } from '../postgres/emptied-tables.fixture.js';
import type { UsageDatabase } from '../postgres/usage-database.js';

export interface Books {
  /** Sum of what events cost. */
  events: string;
  /** Sum of usage transfers. */
  transfers: string;
  /** Amount by which customers' balances fell. */
  fallen: string;
  /** Spend of keys: lifetime, and by hour. */
  totals: string;
  hours: string;
  platformEvents: string;
  platformTransfers: string;
  /** Accounts whose posted is not the sum of their transfers. */
  crooked: number;
  /** Events whose usage transfer does not exist. */
  unlinked: number;
}

/** Sums of the ledger by every path that must agree. */
export async function books({ pool }: UsageDatabase): Promise<Books> {
  const { rows } = await pool.query<Books>(`SELECT
    (SELECT trim_scale(coalesce(sum(cost), 0))::text FROM usage_event) AS events,
    (SELECT trim_scale(coalesce(sum(amount), 0))::text FROM transfer WHERE kind = 'usage') AS transfers,
    (SELECT trim_scale(coalesce(-sum(posted), 0))::text FROM account WHERE kind = 'customer') AS fallen,
    (SELECT trim_scale(coalesce(sum(amount), 0))::text FROM spend_total
      WHERE scope = 'key' AND scope_id NOT LIKE '%/m:%') AS totals,
    (SELECT trim_scale(coalesce(sum(amount), 0))::text FROM spend_hour WHERE scope = 'key') AS hours,
    (SELECT trim_scale(coalesce(sum(house_cost), 0))::text FROM usage_event) AS "platformEvents",
    (SELECT trim_scale(coalesce(sum(amount), 0))::text FROM transfer WHERE kind = 'house') AS "platformTransfers",
    (SELECT count(*)::int FROM account a WHERE a.posted <> coalesce(
      (SELECT sum(CASE WHEN t.credit = a.id THEN t.amount ELSE -t.amount END) FROM transfer t
       WHERE a.id IN (t.credit, t.debit)), 0)) AS crooked,
    (SELECT count(*)::int FROM usage_event e WHERE e.cost > 0 AND NOT EXISTS (
      SELECT 1 FROM transfer t WHERE t.id = e.transfer_id AND t.debit = e.account_id)) AS unlinked`);
  return rows[0];
}

const TABLES =
  'usage_event, usage_slot, usage_hour, usage_day, usage_tag, usage_tag_day, usage_tag_sum, spend_hour, carried_scope, carried_hour, provider_slot, spend_total, rejection, producer, outbox, dead_letter, mirror_debt, lost_range, lost_unit, living_producer, payment';

/** A ledger as after its migrations. */
export async function emptyLedger({ pool }: UsageDatabase): Promise<void> {
  await emptyTables(pool, `${TABLES}, transfer`);
  await pool.query("DELETE FROM account WHERE kind IN ('customer', 'provider')");
  await pool.query('UPDATE account SET posted = 0');
  // Nothing is left to add up of no events.
  await pool.query("UPDATE spend_window SET owed_from = ''");
}

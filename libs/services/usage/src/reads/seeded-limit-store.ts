import type { Clock, LimitStore, Random } from '@gateway/contracts';
import { postgresPool } from '@gateway/database';
import { InProcessLimitStore, type SeedCounts } from '@gateway/limits';
import { SCHEMA } from '../postgres/usage-database.js';

const STATEMENT_TIMEOUT_MS = 15_000;

/** One row per scope that an event counted on, as admission names them. */
const COUNTS = `
  WITH today AS (
    SELECT *, prompt_tokens + completion_tokens AS tokens,
           created_at >= date_trunc('minute', $1::timestamptz, 'UTC') AS is_now
    FROM usage_event WHERE created_at >= date_trunc('day', $1::timestamptz, 'UTC')
  )
  SELECT account_id, scope.kind, scope.id,
         count(*) FILTER (WHERE is_now)::int AS rpm, count(*)::int AS rpd,
         coalesce(sum(tokens) FILTER (WHERE is_now), 0)::float AS tpm
  FROM today, LATERAL (VALUES
    ('key', key_id),
    ('key', key_id || '/m:' || model),
    ('key', key_id || '/m:' || split_part(model, '/', 1) || '/*'),
    ('key', CASE WHEN status = 'success' AND list_cost = 0 THEN key_id || '/free' END),
    ('team_member', team_id || '/' || member_id),
    ('member', CASE WHEN org_id IS NOT NULL THEN member_id END),
    ('team', team_id),
    ('org', org_id)
  ) AS scope(kind, id)
  WHERE scope.id IS NOT NULL
  GROUP BY account_id, scope.kind, scope.id`;

/**
 * Limit store in memory that begins with the ledger's counts of the current minute and day: a restart must not hand
 * out the day's requests again.
 */
export async function seededLimitStore(
  { clock, random }: { clock: Clock; random: Random },
  url: string,
): Promise<LimitStore> {
  const store = new InProcessLimitStore({ clock, random });
  store.seed(await todayCounts(url, clock.now()));
  return store;
}

/** Counts of the ledger as the limit store names them; `now` in milliseconds since the epoch. */
async function todayCounts(url: string, now: number): Promise<SeedCounts[]> {
  const pool = postgresPool({
    url,
    schema: SCHEMA,
    maxConnections: 1,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  try {
    const { rows } = await pool.query<{ account_id: string } & Omit<SeedCounts, 'accountId'>>(COUNTS, [
      new Date(now),
    ]);
    return rows.map(({ account_id: accountId, ...counts }) => ({ accountId, ...counts }));
  } finally {
    await pool.end();
  }
}

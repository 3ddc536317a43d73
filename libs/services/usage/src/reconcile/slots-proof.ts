import type pg from 'pg';
import { DURATION_CLASSES, durationClassSql } from '../posting/duration-classes.js';
import { CACHED_SQL } from '../posting/event-detail.js';
import { addUpSql, type Span } from '../posting/sums.js';
import type { Finding } from './finding.js';
import type { Queryable } from './ledger-proof.js';

/** Columns of a slot of an account's events; `NAMED` makes them one. */
const NAMED = ['account_id', 'slot', 'key_id', 'team_id', 'model', 'endpoint', 'status', 'outcome'];
const BIN = `date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z')`;

function classes(column: string): string {
  const counts = Array.from(
    { length: DURATION_CLASSES },
    (_, n) => `count(*) FILTER (WHERE ${column} = ${n + 1})`,
  );
  return `ARRAY[${counts.join(', ')}]::int[]`;
}

/** $1: accounts, or null for all. */
const EVENTS = `
SELECT ${NAMED.join(', ')}, min(org_id) AS org_id, min(member_id) AS member_id, count(*)::int AS requests,
  sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens, sum(cached) AS cached_tokens,
  sum(coalesce(cost, 0)) AS cost, ${classes('latency_class')} AS latency, ${classes('ttft_class')} AS ttft
FROM (
  SELECT account_id, ${BIN} AS slot, key_id, coalesce(team_id, '') AS team_id, model, endpoint, status, outcome,
    org_id, member_id, prompt_tokens, completion_tokens, cost,
    ${CACHED_SQL} AS cached,
    ${durationClassSql('latency_ms')} AS latency_class, ${durationClassSql('ttft_ms')} AS ttft_class
  FROM usage_event WHERE error_code IS DISTINCT FROM 'gateway_crash' AND ($1::text[] IS NULL OR account_id = ANY($1))
) AS event GROUP BY ${NAMED.join(', ')}`;

const COUNTS = ['requests', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'cost'];
const shown = (side: string): string =>
  COUNTS.map((name) => `trim_scale(coalesce(${side}.${name}, 0)::numeric)`).join(` || ' ' || `);

/** Expected and found: requests, prompt tokens, completion tokens, cached tokens and USD. */
const DIFFERENT = `
SELECT 'slot_differs' AS kind, account_id AS account, key_id || ' ' || model || ' ' ||
    to_char(slot AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"') AS scope,
  ${shown('e')} AS expected, ${shown('s')} AS found
FROM (${EVENTS}) AS e
  FULL JOIN (SELECT * FROM usage_slot WHERE $1::text[] IS NULL OR account_id = ANY($1)) AS s USING (${NAMED.join(', ')})
WHERE (${COUNTS.map((name) => `e.${name}`).join(', ')}) IS DISTINCT FROM (${COUNTS.map((name) => `s.${name}`).join(', ')})`;

/** Sums of a span, of accounts. */
const ADDED_UP: Readonly<Record<Span, string>> = {
  hour: 'slot < days_to AND slot >= hours_from',
  day: 'slot < days_to',
};
const SPANS: readonly Span[] = ['hour', 'day'];

/** Hours or days that are not the sum of their slots. $1: accounts, or null for all. */
const differentSpans = (span: Span): string => `
SELECT 'slot_differs' AS kind, account_id AS account, key_id || ' ' || model || ' ' ||
    to_char(slot AT TIME ZONE 'UTC', 'YYYY-MM-DD${span === 'hour' ? '"T"HH24"Z"' : ''}') AS scope,
  ${shown('e')} AS expected, ${shown('s')} AS found
FROM (
    SELECT ${NAMED.map((name) => (name === 'slot' ? `date_trunc('${span}', slot, 'UTC') AS slot` : name)).join(', ')},
      ${COUNTS.map((name) => `sum(${name}) AS ${name}`).join(', ')}
    FROM usage_slot, spend_window WHERE ${ADDED_UP[span]} AND ($1::text[] IS NULL OR account_id = ANY($1))
    GROUP BY ${NAMED.map((name) => (name === 'slot' ? `date_trunc('${span}', slot, 'UTC')` : name)).join(', ')}
  ) AS e
  FULL JOIN (SELECT * FROM usage_${span} WHERE $1::text[] IS NULL OR account_id = ANY($1)) AS s USING (${NAMED.join(', ')})
WHERE (${COUNTS.map((name) => `e.${name}`).join(', ')}) IS DISTINCT FROM (${COUNTS.map((name) => `s.${name}`).join(', ')})`;

/** Returns differences between the sums behind the series of usage and the events. */
export async function quarterHourFindings(database: Queryable): Promise<Finding[]> {
  const slots = await database.query<Finding>(DIFFERENT, [null]);
  let found = slots.rows;
  for (const span of SPANS)
    found = found.concat((await database.query<Finding>(differentSpans(span), [null])).rows);
  return found;
}

/**
 * Rebuilds the slots under the account's lock, which every posting takes before it adds to them, while the days stand
 * still.
 */
export async function rebuildQuarterHours(client: pg.PoolClient, account: string): Promise<void> {
  await rebuildQuarters(client, account);
  for (const span of SPANS) {
    const differences = `SELECT 1 FROM (${differentSpans(span)}) AS differences LIMIT 1`;
    const { rowCount } = await client.query(differences, [[account]]);
    if (rowCount === 0) continue;
    await client.query(`DELETE FROM usage_${span} WHERE account_id = $1`, [account]);
    const addedUp = `EXISTS (SELECT 1 FROM spend_window WHERE ${ADDED_UP[span]})`;
    await client.query(addUpSql(span, `account_id = $1 AND ${addedUp}`), [account]);
  }
}

async function rebuildQuarters(client: pg.PoolClient, account: string): Promise<void> {
  const { rowCount } = await client.query(`SELECT 1 FROM (${DIFFERENT}) AS differences LIMIT 1`, [[account]]);
  if (rowCount === 0) return;
  await client.query('DELETE FROM usage_slot WHERE account_id = $1', [account]);
  const columns = [...NAMED, 'org_id', 'member_id', ...COUNTS, 'latency', 'ttft'].join(', ');
  await client.query(`INSERT INTO usage_slot (${columns}) SELECT ${columns} FROM (${EVENTS}) AS e`, [
    [account],
  ]);
}

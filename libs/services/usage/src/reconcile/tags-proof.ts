import type pg from 'pg';
import { noteTagsSql, tagNumberSql } from '../posting/slot-tags.js';
import { carriedSql, NAMED } from '../posting/tag-sums.js';
import type { Finding } from './finding.js';
import type { Queryable } from './ledger-proof.js';

const OF_ACCOUNTS = '($1::text[] IS NULL OR account_id = ANY($1))';
const NOTED =
  'created_at >= (SELECT tags_from FROM spend_window) AND created_at < (SELECT tags_to FROM spend_window)';

/** Expected and found: numbers of tags. Which they are is the customer's and not named. $1: accounts, or null for all. */
const MISSING = `
SELECT 'tag_missing' AS kind, account_id AS account, to_char(slot AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"') AS scope,
  count(*)::text AS expected, (count(*) FILTER (WHERE number = ANY(t.tags)))::text AS found
FROM (
  SELECT DISTINCT account_id, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') AS slot, number
  FROM usage_event
  CROSS JOIN LATERAL jsonb_each_text(CASE jsonb_typeof(request_tags) WHEN 'object' THEN request_tags ELSE '{}' END) AS tag(name, value)
  CROSS JOIN LATERAL (VALUES (${tagNumberSql('name')}), (${tagNumberSql(`name || '=' || value`)})) AS numbered(number)
  WHERE value IS NOT NULL AND ${OF_ACCOUNTS} AND ${NOTED}
) AS carried LEFT JOIN usage_tag AS t USING (account_id, slot)
WHERE t.account_id IS NULL OR t.tags IS NOT NULL
GROUP BY account_id, slot HAVING count(*) <> count(*) FILTER (WHERE number = ANY(t.tags))`;

const COUNTS = ['requests', 'prompt_tokens', 'completion_tokens', 'cached_tokens', 'cost'];
const listed = (side: string): string => COUNTS.map((name) => `${side}.${name}`).join(', ');
const shown = (side: string): string =>
  COUNTS.map((name) => `trim_scale(coalesce(sum(${side}.${name}), 0))`).join(` || ' ' || `);

/**
 * Days whose sums are read, of names that they are read for; what no row is noted of is read as having none. Expected and
 * found, of the sums that differ: requests, prompt tokens, completion tokens, cached tokens and USD.
 */
const DIFFERENT = `
SELECT 'tag_sum_differs' AS kind, account_id AS account, to_char(day AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS scope,
  ${shown('e')} AS expected, ${shown('s')} AS found
FROM (
    SELECT account_id, day, ${NAMED}, count(*) AS requests, sum(prompt_tokens) AS prompt_tokens,
      sum(completion_tokens) AS completion_tokens, sum(cached_tokens) AS cached_tokens, sum(cost) AS cost
    FROM (${carriedSql(OF_ACCOUNTS)}) AS carried LEFT JOIN usage_tag_day AS d USING (account_id, day) CROSS JOIN spend_window
    WHERE CASE WHEN d.changes IS NULL THEN day >= tags_from AND day + interval '24 hours' <= tags_to
      ELSE summed = changes AND (name = ANY(names) OR name <> ALL(left_out)) END
    GROUP BY account_id, day, ${NAMED}
  ) AS e
  FULL JOIN (
    SELECT s.* FROM usage_tag_sum AS s JOIN usage_tag_day USING (account_id, day) WHERE summed = changes AND ${OF_ACCOUNTS}
  ) AS s USING (account_id, day, ${NAMED})
WHERE (${listed('e')}) IS DISTINCT FROM (${listed('s')})
GROUP BY account_id, day`;

/** Returns differences between the rows behind reads of a tag and the events. */
export async function tagFindings(database: Queryable): Promise<Finding[]> {
  let found: Finding[] = [];
  for (const sql of [MISSING, DIFFERENT])
    found = found.concat((await database.query<Finding>(sql, [null])).rows);
  return found;
}

/**
 * Rebuilds the tags under the account's lock, which every posting takes before it notes them. Days that differ are
 * added up by the next round.
 */
export async function rebuildTags(client: pg.PoolClient, account: string): Promise<void> {
  const { rowCount } = await client.query(`SELECT 1 FROM (${MISSING}) AS missing LIMIT 1`, [[account]]);
  if (rowCount !== 0) await client.query(noteTagsSql(`${OF_ACCOUNTS} AND ${NOTED}`), [[account]]);
  await client.query(
    `INSERT INTO usage_tag_day AS d (account_id, day, changes)
     SELECT account, scope::timestamp AT TIME ZONE 'UTC', 1 FROM (${DIFFERENT}) AS different ORDER BY 1, 2
     ON CONFLICT (account_id, day) DO UPDATE SET changes = d.changes + 1`,
    [[account]],
  );
}

import { DURATION_CLASSES, durationClassSql } from './duration-classes.js';
import { CACHED_SQL } from './event-detail.js';
import { CRASH_CODE } from './read-batch.js';

/** Rows that are kept of one account and day. */
const ROWS_MAX = 2_000;
/** A name is added up where one row stands for so many events at least: else reading them is as cheap. */
const EVENTS_PER_ROW = 4;
/** Bytes of a name or a value: both are in the key of a row. */
const LENGTH_MAX = 256;
/** Names that are left out and known to be. */
const LEFT_OUT_MAX = 1_000;

/** Columns that make events one row of a day. */
export const NAMED = 'name, value, model, status, org_id';

function classes(column: string): string {
  const counts = Array.from(
    { length: DURATION_CLASSES },
    (_, n) => `count(*) FILTER (WHERE ${column} = ${n + 1})`,
  );
  return `ARRAY[${counts.join(', ')}]::int[]`;
}

/** A row for each tag of the events that match. */
export const carriedSql = (matching: string): string => `
  SELECT account_id, date_trunc('day', created_at, 'UTC') AS day, name, value, model, status, coalesce(org_id, '') AS org_id, prompt_tokens, completion_tokens,
    ${CACHED_SQL} AS cached_tokens, coalesce(cost, 0) AS cost,
    ${durationClassSql('latency_ms')} AS latency_class, ${durationClassSql('ttft_ms')} AS ttft_class
  FROM usage_event
  CROSS JOIN LATERAL jsonb_each_text(CASE jsonb_typeof(request_tags) WHEN 'object' THEN request_tags ELSE '{}' END) AS tag(name, value)
  WHERE ${matching} AND error_code IS DISTINCT FROM '${CRASH_CODE}' AND value IS NOT NULL`;

const SUMS = `count(*)::int AS requests, sum(prompt_tokens) AS prompt_tokens, sum(completion_tokens) AS completion_tokens,
  sum(cached_tokens) AS cached_tokens, sum(cost) AS cost, ${classes('latency_class')} AS latency, ${classes('ttft_class')} AS ttft`;

/**
 * Query that sums the events of account $1 and the day that begins at $2, as JSON. It takes the names whose rows save the
 * most events, and says which are left out.
 */
export const SUM_TAGS = `
WITH carried AS MATERIALIZED (${carriedSql(`account_id = $1 AND created_at >= $2 AND created_at < $2::timestamptz + interval '24 hours'`)}
), named AS (
  SELECT name, count(*) AS rows, sum(requests) AS requests, greatest(octet_length(name), max(octet_length(value))) AS length
  FROM (SELECT ${NAMED}, count(*) AS requests FROM carried GROUP BY ${NAMED}) AS combined GROUP BY name
), chosen AS (
  SELECT name FROM (
    SELECT name, sum(rows) OVER (ORDER BY requests / rows DESC, name) AS rows FROM named
    WHERE requests >= rows * ${EVENTS_PER_ROW} AND length <= ${LENGTH_MAX}) AS ranked
  WHERE rows <= ${ROWS_MAX}
), summed AS (
  SELECT ${NAMED}, ${SUMS} FROM carried WHERE name IN (SELECT name FROM chosen) GROUP BY ${NAMED}
)
SELECT (SELECT coalesce(array_agg(name), '{}') FROM chosen) AS names,
  (SELECT CASE WHEN count(*) <= ${LEFT_OUT_MAX} THEN coalesce(array_agg(name), '{}') END
   FROM named WHERE name NOT IN (SELECT name FROM chosen)) AS "leftOut",
  (SELECT coalesce(json_agg(summed), '[]') FROM summed)::text AS rows`;

/** Rows of SUM_TAGS ($3) of account $1 and day $2. */
export const INSERT_TAG_SUMS = `
INSERT INTO usage_tag_sum (account_id, day, ${NAMED}, requests, prompt_tokens, completion_tokens, cached_tokens, cost, latency, ttft)
SELECT $1, $2, sums.* FROM json_to_recordset($3::json) AS sums(name text, value text, model text, status text, org_id text, requests int,
  prompt_tokens bigint, completion_tokens bigint, cached_tokens bigint, cost numeric, latency int[], ttft int[])`;

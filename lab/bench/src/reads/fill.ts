import { Client } from 'pg';
import { fillBooks, fillQuarterHours } from './fill-books.js';

export interface FillOptions {
  databaseUrl: string;
  /** Number of events of all accounts. */
  events: number;
  days: number;
  /** End of the history. */
  endMs: number;
}

export const RARE_MODEL = 'acme/seldom';
export const RARE_TAG = 'ticket=T-1';
/** One event in so many is of the rare model, one carries the rare tag. */
const RARE = 100_000;
/** One rejection for so many events. */
const PER_REJECTION = 50;
/** Written by one statement. */
const CHUNK = 100_000;
const SLOT_MS = 900_000;
const DAY_MS = 86_400_000;

/**
 * Fills the ledger as years of postings would have: usage events in the order of their time, their quarters of an hour,
 * refusals, and books that add up. `keys` are taken from keys.api_key: the first account gets a third of everything.
 */
export async function fillUsage({ databaseUrl, events, days, endMs }: FillOptions): Promise<void> {
  const database = new Client({ connectionString: databaseUrl, options: '-c search_path=usage' });
  await database.connect();
  try {
    const beginMs = Math.floor((endMs - days * DAY_MS) / SLOT_MS) * SLOT_MS;
    const indexes = await dropIndexes(database);
    await database.query(KEYS);
    for (let first = 1; first <= events; first += CHUNK) {
      const last = Math.min(events, first + CHUNK - 1);
      await database.query(EVENTS, [first, last, beginMs, (endMs - beginMs) / events, RARE_MODEL, RARE]);
      if (first % 1_000_000 === 1) report(`${first - 1} of ${events} events`);
    }
    report('indexes');
    for (const index of indexes) await database.query(index);
    report('quarters of an hour');
    await fillQuarterHours(database);
    report('books and refusals');
    await fillBooks(database, events);
    await database.query(REJECTIONS, [Math.ceil(events / PER_REJECTION), beginMs, endMs - beginMs]);
    await database.query('DROP TABLE bench_key');
    await database.query('VACUUM ANALYZE');
  } finally {
    await database.end();
  }
}

function report(what: string): void {
  process.stderr.write(`filling: ${what}\n`);
}

/** All but those that keep events apart; they are made again over all rows, which is several times faster. */
async function dropIndexes(database: Client): Promise<string[]> {
  const { rows } = await database.query<{ indexname: string; indexdef: string }>(
    `SELECT indexname, indexdef FROM pg_indexes
     WHERE schemaname = 'usage' AND tablename = 'usage_event' AND indexdef NOT LIKE '%USING btree (request_id, unit)'`,
  );
  for (const { indexname } of rows) await database.query(`DROP INDEX "${indexname}"`);
  return rows.map(({ indexdef }) => indexdef);
}

/** A thousand places among the keys: those of the first account hold a third of them, of the second a sixth. */
const KEYS = `
CREATE TABLE bench_key AS
WITH account AS (
  SELECT account_id, row_number() OVER (ORDER BY min(id)) AS n, count(*) OVER () AS accounts
  FROM keys.api_key WHERE label = 'bench' AND account_id IN (SELECT id FROM keys.account WHERE org_id IS NOT NULL)
  GROUP BY account_id
), weighed AS (
  SELECT account_id, n, CASE n WHEN 1 THEN 333 WHEN 2 THEN 167 ELSE greatest(1, 500 / greatest(1, accounts - 2)) END AS places
  FROM account
), numbered AS (
  SELECT k.*, row_number() OVER (PARTITION BY k.account_id ORDER BY k.id) - 1 AS at,
    count(*) OVER (PARTITION BY k.account_id) AS keys
  FROM keys.api_key k WHERE label = 'bench'
)
SELECT row_number() OVER (ORDER BY w.n, place) - 1 AS place, k.account_id, k.org_id, k.id AS key_id, k.created_by AS member_id,
  'team_' || w.n || '_' || (k.at % 4) AS team_id, (w.n * 7 + k.at)::int AS nth
FROM weighed w CROSS JOIN LATERAL generate_series(1, w.places) AS place
JOIN numbered k ON k.account_id = w.account_id AND k.at = place % k.keys`;

/** $1 to $2: numbers of events; $3 when the first began, $4 milliseconds from one to the next, $5 the rare model, $6 how rare. */
const EVENTS = `
INSERT INTO usage_event (id, request_id, unit, account_id, org_id, team_id, member_id, key_id, endpoint, model, requested_model,
  provider, status, outcome, http_status, error_code, stream, prompt_tokens, completion_tokens, usage, usage_estimated, attempts,
  priced_from, cost, list_cost, transfer_id, latency_ms, ttft_ms, created_at, routing_fallback, byok_used, cache_hit,
  request_tags, limits, end_user_hash, api_version, producer, epoch, seq)
SELECT 'use_' || uuid, 'req_' || uuid, 0, k.account_id, k.org_id, k.team_id, k.member_id, k.key_id,
  '/v1/' || (ARRAY['chat/completions', 'responses', 'messages'])[1 + nth % 3], model, model, 'simulated',
  CASE WHEN is_error THEN 'error' ELSE 'success' END, CASE WHEN is_error THEN 'failed' ELSE 'served' END,
  CASE WHEN is_error THEN 502 ELSE 200 END, CASE WHEN is_error THEN 'upstream_error' END, h % 2 = 0,
  prompt, completion, jsonb_build_object('prompt_tokens', prompt, 'completion_tokens', completion, 'cached_tokens', prompt / 4,
    'requests', 1), false,
  jsonb_build_array(jsonb_build_object('n', 1, 'provider', 'simulated', 'model', model, 'status', 'success', 'http_status', 200,
    'error_code', null, 'provider_code', null, 'error_message', null, 'started_at', at, 'latency_ms', latency, 'ttft_ms',
    latency / 4, 'prompt_tokens', prompt, 'completion_tokens', completion, 'served', true, 'house_usd', null)),
  jsonb_build_object('snapshot_id', 'bench', 'provider', 'simulated', 'upstream_model', model, 'tier', 'default', 'discount_pct',
    null, 'byok_served', false, 'byok_fee_pct', '0', 'context', '{}'::jsonb),
  CASE WHEN NOT is_error THEN cost END, cost,
  CASE WHEN NOT is_error THEN md5(k.account_id || at::date)::uuid END, latency, latency / 4, at, false, false, false,
  CASE WHEN g % $6 = 7 THEN '{"ticket": "T-1"}'::jsonb ELSE jsonb_build_object('team', 'team' || h % 12, 'job', 'job' || h2 % 5000) END,
  jsonb_build_array(jsonb_build_object('scope', 'key', 'scope_id', k.key_id, 'rpm', 3, 'rpm_limit', 1000, 'rpd', 40, 'rpd_limit',
    100000, 'cap_usd', null)),
  CASE WHEN h % 10 = 0 THEN md5('end' || h2 % 50000) END, '2026-08', 'bench', 'fill', g
FROM (
  SELECT g, h, h2, at, h % 1000 AS place, h2 % 50 = 0 AS is_error, 100 + h % 4000 AS prompt, 10 + h2 % 900 AS completion,
    ((100 + h % 4000) * 3 + (10 + h2 % 900) * 15)::numeric / 1000000 AS cost, 200 + h2 % 6000 AS latency,
    substr(ms, 1, 8) || '-' || substr(ms, 9) || '-7' || substr(hash, 1, 3) || '-8' || substr(hash, 4, 3) || '-' || substr(hash, 7, 12) AS uuid
  FROM (
    SELECT g, abs(hashint8(g)::bigint) AS h, abs(hashint8(g + 1000000007)::bigint) AS h2, md5(g::text) AS hash,
      to_timestamp(($3::float8 + $4::float8 * (g - 1)) / 1000)::timestamptz(3) AS at,
      lpad(to_hex(($3::float8 + $4::float8 * (g - 1))::bigint), 12, '0') AS ms
    FROM generate_series($1::bigint, $2::bigint) AS g
  ) AS drawn
) AS event JOIN bench_key AS k USING (place)
CROSS JOIN LATERAL (SELECT CASE WHEN g % $6 = 77 THEN $5::text
  ELSE 'brand' || (nth * 3 + h % 3) % 5 || '/model-' || (nth * 3 + h % 3) % 30 END AS model) AS named
ORDER BY g`;

/** $1: how many; $2 when they begin, $3 over how many milliseconds. */
const REJECTIONS = `
INSERT INTO rejection (request_id, created_at, account_id, org_id, team_id, member_id, key_id, endpoint, model, requested_model,
  http_status, code, message, scope, scope_id, limit_type, count, request_tags, producer, epoch, seq)
SELECT 'req_' || md5('rejection' || g), to_timestamp(($2::float8 + $3::float8 * g / $1::float8) / 1000), account_id, org_id, team_id, member_id,
  key_id, '/v1/chat/completions', 'brand1/model-1', 'brand1/model-1', 429,
  CASE WHEN g % 1000 = 0 THEN 'spend_limit_exceeded' ELSE 'rate_limit_exceeded' END, 'Too many requests.', 'key', key_id, 'rpm', 1, '{}',
  'bench', 'fill-rejections', g
FROM generate_series(1, $1::int) AS g JOIN bench_key ON place = abs(hashint8(g)::bigint) % 1000`;

import type { Client } from 'pg';

const CLASSES = 20;

const BOUNDS = Array.from({ length: CLASSES - 1 }, (_, n) => 2 ** (n + 2)).join(',');

function classOf(column: string): string {
  return `width_bucket(${column}, '{${BOUNDS}}'::float8[]) + 1`;
}

function classCounts(name: string): string {
  return Array.from({ length: CLASSES }, (_, n) => `count(*) FILTER (WHERE ${name} = ${n + 1})`).join(', ');
}

/** Fills the quarter-hour sums that postings would have made. */
export async function fillQuarterHours(database: Client): Promise<void> {
  const { rows } = await database.query<{ day: Date }>(
    `SELECT generate_series(date_trunc('day', min(created_at), 'UTC'), max(created_at), interval '1 day') AS day FROM usage_event`,
  );
  for (const { day } of rows)
    await database.query(
      `INSERT INTO usage_slot (account_id, slot, key_id, team_id, model, endpoint, status, outcome, org_id, member_id,
         requests, prompt_tokens, completion_tokens, cached_tokens, cost, latency, ttft)
       SELECT account_id, slot, key_id, team_id, model, endpoint, status, outcome, min(org_id), min(member_id), count(*),
         sum(prompt_tokens), sum(completion_tokens), sum(prompt_tokens / 4), sum(coalesce(cost, 0)),
         ARRAY[${classCounts('l')}], ARRAY[${classCounts('t')}]
       FROM (SELECT *, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') AS slot, ${classOf('latency_ms')} AS l,
         ${classOf('ttft_ms')} AS t FROM usage_event WHERE created_at >= $1 AND created_at < $1::timestamptz + interval '1 day') AS event
       GROUP BY account_id, slot, key_id, team_id, model, endpoint, status, outcome`,
      [day],
    );
  await fillTags(
    database,
    rows.map(({ day }) => day),
  );
  await fillSpans(database);
  await fillTagSums(database);
  await database.query('ANALYZE usage_slot, usage_tag, usage_tag_day, usage_tag_sum, usage_hour, usage_day');
}

/** Fills the tag rows of all whole hours, as the tag rollup would have. */
async function fillTags(database: Client, days: readonly Date[]): Promise<void> {
  const number = (text: string): string => `('x' || left(md5(${text}), 8))::bit(32)::int`;
  for (const day of days)
    await database.query(
      `INSERT INTO usage_tag (account_id, slot, tags)
       SELECT account_id, slot, array_agg(number) FROM (
         SELECT DISTINCT account_id, date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z') AS slot, number
         FROM usage_event CROSS JOIN LATERAL jsonb_each_text(request_tags) AS tag(name, value)
         CROSS JOIN LATERAL (VALUES (${number('name')}), (${number(`name || '=' || value`)})) AS numbered(number)
         WHERE created_at >= $1 AND created_at < $1::timestamptz + interval '1 day') AS carried
       GROUP BY account_id, slot ON CONFLICT DO NOTHING`,
      [day],
    );
  await database.query(
    `UPDATE spend_window SET (tags_from, tags_to, tags_claimed_to) = (
       SELECT min(slot), date_trunc('hour', max(slot), 'UTC'), greatest(tags_claimed_to, date_trunc('hour', max(slot), 'UTC')) FROM usage_slot)`,
  );
}

/** Fills the sums by tag, as the rollup would have: `team` and `ticket` have few values, `job` many. */
async function fillTagSums(database: Client): Promise<void> {
  const { rows } = await database.query<{ day: Date }>(
    `SELECT DISTINCT date_trunc('day', slot, 'UTC') AS day FROM usage_tag, spend_window
     WHERE slot + interval '24 hours' < tags_claimed_to`,
  );
  for (const { day } of rows)
    await database.query(
      // Days that the service has noted meanwhile are left to it.
      `WITH noted AS (
         INSERT INTO usage_tag_day (account_id, day, summed, names, left_out)
         SELECT DISTINCT account_id, $1::timestamptz, 0, '{team,ticket}'::text[], '{job}'::text[] FROM usage_tag
         WHERE slot >= $1 AND slot < $1::timestamptz + interval '24 hours'
         ON CONFLICT DO NOTHING RETURNING account_id
       )
       INSERT INTO usage_tag_sum (account_id, day, name, value, model, status, org_id, requests, prompt_tokens, completion_tokens,
         cached_tokens, cost, latency, ttft)
       SELECT account_id, $1, name, value, model, status, org_id, count(*), sum(prompt_tokens), sum(completion_tokens),
         sum(prompt_tokens / 4), sum(coalesce(cost, 0)), ARRAY[${classCounts('latency_class')}], ARRAY[${classCounts('ttft_class')}]
       FROM (SELECT *, ${classOf('latency_ms')} AS latency_class, ${classOf('ttft_ms')} AS ttft_class FROM usage_event
         WHERE created_at >= $1 AND created_at < $1::timestamptz + interval '24 hours') AS event
       JOIN noted USING (account_id) CROSS JOIN LATERAL jsonb_each_text(request_tags) AS tag(name, value)
       WHERE name <> 'job' GROUP BY account_id, name, value, model, status, org_id`,
      [day],
    );
}

/** Fills the sums of all whole hours, as the rollup would have. */
async function fillSpans(database: Client): Promise<void> {
  const sums = (name: string): string =>
    `ARRAY[${Array.from({ length: CLASSES }, (_, n) => `sum(${name}[${n + 1}])`).join(', ')}]::int[]`;
  const named = 'account_id, key_id, team_id, model, endpoint, status, outcome';
  await database.query('BEGIN');
  // The service that runs adds up as well: it waits for this, and finds all of it done.
  await database.query(
    `UPDATE spend_window SET (hours_from, days_to) = (SELECT date_trunc('hour', min(slot), 'UTC'), date_trunc('hour', max(slot), 'UTC') FROM usage_slot)`,
  );
  await database.query('TRUNCATE usage_hour, usage_day');
  for (const span of ['hour', 'day'])
    await database.query(
      `INSERT INTO usage_${span} (${named}, slot, org_id, member_id, requests, prompt_tokens, completion_tokens, cached_tokens, cost, latency, ttft)
       SELECT ${named}, date_trunc('${span}', slot, 'UTC') AS span, min(org_id), min(member_id), sum(requests), sum(prompt_tokens),
         sum(completion_tokens), sum(cached_tokens), sum(cost), ${sums('latency')}, ${sums('ttft')}
       FROM usage_slot WHERE slot < (SELECT days_to FROM spend_window) GROUP BY ${named}, span`,
    );
  await database.query('COMMIT');
}

/** Transfers of accounts and days, spend of scopes, what the provider is owed, balances, the window and what is applied: the proof finds no difference. */
export async function fillBooks(database: Client, events: number): Promise<void> {
  for (const sql of BOOKS) await database.query(sql);
  await database.query(
    `INSERT INTO producer (producer, epoch, applied) VALUES ('bench', 'fill', int8multirange(int8range(1, $1, '[]')))`,
    [events],
  );
}

const SCOPES = `LATERAL (VALUES ('key', key_id), ('team_member', team_id || '/' || member_id), ('member', member_id),
  ('team', team_id), ('org', org_id)) AS s(scope, scope_id)`;

const BOOKS = [
  `UPDATE spend_window SET lapsed_to = date_trunc('day', now(), 'UTC') - interval '30 days'`,
  `INSERT INTO transfer (id, kind, source, debit, credit, amount, created_at)
   SELECT md5(account_id || day::date)::uuid, 'usage', 'bench/' || md5(account_id || day::date), account_id, 'revenue', sum(cost), day
   FROM (SELECT *, date_trunc('day', slot, 'UTC') AS day FROM usage_slot) AS slots GROUP BY account_id, day HAVING sum(cost) > 0`,
  `INSERT INTO account (id, kind, posted, version, org_id)
   SELECT account_id, 'customer', -sum(cost), 1, min(org_id) FROM usage_slot GROUP BY account_id
   ON CONFLICT (id) DO UPDATE SET posted = account.posted + excluded.posted, version = account.version + 1`,
  `UPDATE account SET posted = posted + (SELECT sum(cost) FROM usage_slot) WHERE id = 'revenue'`,
  `INSERT INTO spend_hour (account_id, scope, scope_id, hour, amount)
   SELECT account_id, scope, scope_id, date_trunc('hour', slot, 'UTC'), sum(cost) FROM usage_slot CROSS JOIN ${SCOPES}
   GROUP BY 1, 2, 3, 4 HAVING sum(cost) > 0`,
  `INSERT INTO spend_total (account_id, scope, scope_id, amount, lapsed)
   SELECT account_id, scope, scope_id, sum(cost),
     coalesce(sum(cost) FILTER (WHERE scope <> 'key' AND slot < (SELECT lapsed_to FROM spend_window)), 0)
   FROM usage_slot CROSS JOIN LATERAL (VALUES ('key', key_id), ('key', key_id || '/m:' || model),
     ('team_member', team_id || '/' || member_id), ('member', member_id), ('team', team_id), ('org', org_id)) AS s(scope, scope_id)
   GROUP BY 1, 2, 3 HAVING sum(cost) > 0`,
  `INSERT INTO provider_slot (provider, slot, amount)
   SELECT priced_from ->> 'provider', date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z'), sum(list_cost)
   FROM usage_event WHERE producer = 'bench' AND list_cost > 0 GROUP BY 1, 2
   ON CONFLICT (provider, slot) DO UPDATE SET amount = provider_slot.amount + excluded.amount`,
];

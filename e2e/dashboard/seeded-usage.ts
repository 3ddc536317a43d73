import pg from 'pg';

export interface UsageSeed {
  /** Address of the gateway's database: its schema `usage` takes the rows. */
  databaseUrl: string;
  orgId: string;
  memberId: string;
  /** Team of the keys; absent = none. */
  teamId?: string;
  keyIds: readonly string[];
  events: number;
  /** Dollars of the events in turn; absent = some cents. */
  costs?: readonly string[];
  /** ISO 8601: the first event. */
  from: string;
  secondsApart: number;
}

/** Dollars of event n: four decimals, so that sums on a page are exact. */
const COST = 'coalesce(($9::numeric[])[1 + n % cardinality($9::numeric[])], ((n % 97) + 1) * 0.0001)';

const EVENTS = `INSERT INTO usage.usage_event (id, request_id, unit, account_id, org_id, member_id, team_id, key_id, endpoint,
    model, requested_model, status, outcome, http_status, stream, prompt_tokens, completion_tokens, usage,
    usage_estimated, attempts, cost, list_cost, latency_ms, ttft_ms, created_at, routing_fallback, byok_used, cache_hit,
    request_tags, api_version, producer, epoch, seq)
  SELECT 'use_' || gen_random_uuid(), 'req_' || gen_random_uuid(), 0, $1, $2, $3, $10, ($4::text[])[1 + n % cardinality($4::text[])],
    '/v1/chat/completions', m.model, m.model, m.status, m.outcome, m.http, false, 100 + n % 900, 50 + n % 400,
    '{}', false, '[]', ${COST}, ${COST}, 200 + n % 1800, 40 + n % 300,
    $5::timestamptz + n * make_interval(secs => $6), false, false, false, '{}', '2026-07', 'seed', $7, n
  FROM generate_series(0, $8::int - 1) AS n,
    LATERAL (SELECT (ARRAY['simulator/chat', 'simulator/claude', 'simulator/gemini'])[1 + n % 3] AS model,
      CASE WHEN n % 50 = 7 THEN 'error' ELSE 'success' END AS status,
      CASE WHEN n % 50 = 7 THEN 'failed' ELSE 'served' END AS outcome,
      CASE WHEN n % 50 = 7 THEN 502 ELSE 200 END AS http) AS m`;

/**
 * Returns the statement that sums as the postings do: by quarters of an hour, and what is older than `days_to` by days,
 * too.
 */
const addedUp = (table: 'usage_slot' | 'usage_hour' | 'usage_day', time: string, condition: string): string =>
  `INSERT INTO usage.${table} (account_id, slot, key_id, team_id, model, endpoint, status, outcome, org_id,
    member_id, requests, prompt_tokens, completion_tokens, cached_tokens, cost, latency, ttft)
  SELECT account_id, ${time}, key_id, coalesce(team_id, ''), model, endpoint, status, outcome,
    org_id, member_id, count(*), sum(prompt_tokens), sum(completion_tokens), 0, sum(cost),
    array_fill(0, ARRAY[8]) || count(*)::int || array_fill(0, ARRAY[11]),
    array_fill(0, ARRAY[5]) || count(*)::int || array_fill(0, ARRAY[14])
  FROM usage.usage_event WHERE producer = 'seed' AND epoch = $1 AND ${condition}
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`;
const QUARTER = "date_bin('15 minutes', created_at, '2000-01-01T00:00:00Z')";
const SLOTS = addedUp('usage_slot', QUARTER, 'true');
const DAYS = addedUp(
  'usage_day',
  "date_trunc('day', created_at, 'UTC')",
  `${QUARTER} < (SELECT days_to FROM usage.spend_window)`,
);

const HOURS = addedUp(
  'usage_hour',
  "date_trunc('hour', created_at, 'UTC')",
  `${QUARTER} < (SELECT days_to FROM usage.spend_window) AND ${QUARTER} >= (SELECT hours_from FROM usage.spend_window)`,
);

/** Tags are noted only behind the seeded events: what is noted before has not seen them. The service does it again. */
const TAGS = `UPDATE usage.spend_window SET tags_from = least(tags_to, greatest(tags_from, (
  SELECT max(${QUARTER}) + interval '15 minutes' FROM usage.usage_event WHERE producer = 'seed' AND epoch = $1)))`;

/** Statement of the ledger's transfers for them, one for each day of UTC. */
const TRANSFERS = `INSERT INTO usage.transfer (id, kind, source, debit, credit, amount, created_at)
  SELECT gen_random_uuid(), 'usage', 'seed ' || $1 || ' ' || date_trunc('day', created_at, 'UTC'), account_id, 'revenue',
    sum(cost), max(created_at)
  FROM usage.usage_event WHERE producer = 'seed' AND epoch = $1
  GROUP BY account_id, date_trunc('day', created_at, 'UTC')`;

const POSTED = `UPDATE usage.account a SET posted = a.posted - s.amount FROM (SELECT debit, sum(amount) AS amount
  FROM usage.transfer WHERE source LIKE 'seed ' || $1 || ' %' GROUP BY debit) AS s WHERE a.id = s.debit`;

/** Usage of days gone by, as if it had been posted: events, their sums by time, and their transfers. */
export async function seedUsage(seed: UsageSeed): Promise<void> {
  const { orgId, memberId, keyIds, events, costs = null, from, secondsApart, teamId = null } = seed;
  const client = new pg.Client({ connectionString: seed.databaseUrl });
  await client.connect();
  try {
    const found = await client.query<{ id: string }>('SELECT id FROM usage.account WHERE org_id = $1', [
      orgId,
    ]);
    const epoch = `${orgId} ${teamId ?? ''} ${from}`;
    await client.query(EVENTS, [
      found.rows[0].id,
      orgId,
      memberId,
      keyIds,
      from,
      secondsApart,
      epoch,
      events,
      costs,
      teamId,
    ]);
    // Nothing is added up to days between the two.
    await client.query('BEGIN');
    await client.query('SELECT FROM usage.spend_window FOR UPDATE');
    await client.query(SLOTS, [epoch]);
    await client.query(HOURS, [epoch]);
    await client.query(DAYS, [epoch]);
    await client.query(TAGS, [epoch]);
    await client.query('COMMIT');
    await client.query(TRANSFERS, [epoch]);
    await client.query(POSTED, [epoch]);
    await client.query('ANALYZE usage.usage_event, usage.usage_slot, usage.usage_hour, usage.usage_day');
  } finally {
    await client.end();
  }
}

const PEOPLE = `INSERT INTO keys."user" (id, email, name, created_at)
  SELECT 'usr_seed_' || n, 'person' || n || '@example.com', 'Person ' || n, now() FROM generate_series(1, $1::int) AS n`;
const MEMBERSHIPS = `INSERT INTO keys.membership (org_id, user_id, role, created_at)
  SELECT $1, 'usr_seed_' || n, 'member', now() FROM generate_series(1, $2::int) AS n`;
const KEYS = `INSERT INTO keys.api_key (id, account_id, org_id, created_by, secret_hmac, pepper_version, masked_key,
    label, created_at, updated_at)
  SELECT 'key_seed_' || n, $1, $2, 'usr_seed_' || 1 + n % $3::int, 'seed ' || n, 1, 'rsk_seed...' || n, 'Service ' || n,
    now(), now() FROM generate_series(1, $4::int) AS n`;

/** People of an organization and keys of theirs, which nobody can call with. Answers the ids of the keys. */
export async function seedPeople(
  databaseUrl: string,
  { orgId, people, keys }: { orgId: string; people: number; keys: number },
): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const found = await client.query<{ id: string }>('SELECT id FROM usage.account WHERE org_id = $1', [
      orgId,
    ]);
    await client.query(PEOPLE, [people]);
    await client.query(MEMBERSHIPS, [orgId, people]);
    await client.query(KEYS, [found.rows[0].id, orgId, people, keys]);
  } finally {
    await client.end();
  }
  return Array.from({ length: keys }, (_, n) => `key_seed_${n + 1}`);
}

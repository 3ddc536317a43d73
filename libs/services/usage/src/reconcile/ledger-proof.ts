import type pg from 'pg';
import { CARRIED } from '../posting/period-scopes.js';
import type { DifferenceKind, Finding, Sums } from './finding.js';

/** The accounts of a statement: some, or all (and then those of the platform as well). */
export type Accounts = readonly string[] | 'all';

export type Queryable = Pick<pg.Pool, 'query'>;

interface Row {
  kind: DifferenceKind;
  account: string | null;
  scope: string | null;
  expected: string;
  found: string;
}

const text = (sum: string): string => `trim_scale(coalesce(${sum}, 0))::text`;

/** The condition on a column, for the one parameter that names accounts. */
function only(column: string, accounts: Accounts): string {
  return accounts === 'all' ? 'TRUE' : `${column} = ANY($1::text[])`;
}

/**
 * Proofs over PostgreSQL alone. Each is one statement, hence one snapshot: a posting under way is in it whole or not
 * at all. The cost is that of the events and transfers of the accounts asked.
 */
export async function ledgerFindings(database: Queryable, accounts: Accounts): Promise<Finding[]> {
  const statements = [linksSql(accounts), accountsSql(accounts), totalsSql(accounts), hoursSql(accounts)];
  statements.push(notAppliedSql(accounts), paymentsSql(accounts), unbilledSql(accounts));
  // Which tag it is, is the customer's and not named.
  statements.push(`SELECT 'hour_differs' AS kind, account_id AS account,
      scope || ':' || left(md5(scope_id), 8) || ' ' || to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24"Z"') AS scope,
      expected, found FROM (${carriedHoursSql(accounts)}) AS carried`);
  if (accounts === 'all') statements.push(...WHOLE, DEAD_LETTERS);
  let found: Finding[] = [];
  for (const sql of statements) {
    const { rows } = await database.query<Row>(sql, accounts === 'all' ? [] : [accounts]);
    found = found.concat(rows);
  }
  return found;
}

/** Findings that are of no account: the platform, the balance of the books, gaps. */
export async function wholeBooksFindings(database: Queryable): Promise<Finding[]> {
  let found: Finding[] = [];
  for (const sql of WHOLE) found = found.concat((await database.query<Row>(sql)).rows);
  return found;
}

/** Records that could not be applied, and that nobody has had applied since. */
export async function deadLetterFindings(database: Queryable): Promise<Finding[]> {
  return (await database.query<Row>(DEAD_LETTERS)).rows;
}

/** Links of the newest transfers, by a range of their ids, which rise with time: as dear as what was posted since. */
export async function recentLinkFindings(database: Queryable, sinceId: string): Promise<Finding[]> {
  const { rows } = await database.query<Row>(linksSql('all', sinceId), [sinceId]);
  return rows;
}

/** A correction names the transfer that it corrects, or `none:<account>`, before the slash of its source. */
export function linksSql(accounts: Accounts, sinceId?: string): string {
  const events = sinceId === undefined ? only('account_id', accounts) : 'transfer_id >= $1::uuid';
  const transfers =
    sinceId === undefined
      ? accounts === 'all'
        ? 'TRUE'
        : `(${only('debit', accounts)} OR (${only('credit', accounts)} AND credit <> 'revenue'))`
      : 'id >= $1::uuid';
  // Of a correction that is newer than what it corrects the range holds one side: those pairs are the full proof's.
  const kinds = sinceId === undefined ? `('usage', 'usage_correction')` : `('usage')`;
  const uncorrected =
    sinceId === undefined
      ? 'TRUE'
      : `NOT EXISTS (SELECT 1 FROM transfer c WHERE c.kind = 'usage_correction' AND c.id >= $1::uuid
           AND split_part(c.source, '/', 1) = link)`;
  return `
WITH spent AS (
  SELECT account_id, coalesce(transfer_id::text, 'none:' || account_id) AS link, sum(cost) AS amount
  FROM usage_event WHERE cost > 0 AND ${events} GROUP BY 1, 2
), moved AS (
  SELECT CASE WHEN credit = 'revenue' THEN debit ELSE credit END AS account_id,
    CASE kind WHEN 'usage' THEN id::text ELSE split_part(source, '/', 1) END AS link,
    sum(CASE WHEN credit = 'revenue' THEN amount ELSE -amount END) AS amount
  FROM transfer WHERE kind IN ${kinds} AND ${transfers} GROUP BY 1, 2
)
SELECT CASE WHEN m.amount IS NULL THEN 'event_without_transfer' WHEN s.amount IS NULL THEN 'transfer_without_event'
  ELSE 'transfer_differs' END AS kind, account_id AS account, link AS scope,
  ${text('s.amount')} AS expected, ${text('m.amount')} AS found
FROM spent s FULL JOIN moved m USING (account_id, link)
WHERE coalesce(s.amount, 0) <> coalesce(m.amount, 0) AND ${uncorrected}`;
}

function accountsSql(accounts: Accounts): string {
  const credits = accounts === 'all' ? 'TRUE' : `${only('credit', accounts)} AND credit <> 'revenue'`;
  return `
WITH moved AS (
  SELECT id, sum(delta) AS amount FROM (
    SELECT credit AS id, amount AS delta FROM transfer WHERE ${credits}
    UNION ALL SELECT debit, -amount FROM transfer WHERE ${only('debit', accounts)}) AS deltas GROUP BY id
)
SELECT 'account_differs' AS kind, id AS account, NULL AS scope, ${text('m.amount')} AS expected,
  ${text('a.posted')} AS found
FROM (SELECT id, posted FROM account WHERE ${only('id', accounts)}) a FULL JOIN moved m USING (id)
WHERE coalesce(a.posted, 0) <> coalesce(m.amount, 0)`;
}

/** Events by everything that a bucket depends on, then by scope: a busy key's events are summed before they multiply. */
function spentSql(accounts: Accounts, isHourly: boolean): string {
  const model = isHourly ? '' : `('key', key_id || '/m:' || model),`;
  return `
WITH grouped AS (
  SELECT account_id, key_id, nullif(team_id, '') AS team_id, member_id, nullif(org_id, '') AS org_id, model,
    ${isHourly ? `date_trunc('hour', created_at, 'UTC')` : 'NULL'} AS hour,
    created_at < (SELECT lapsed_to FROM spend_window) AS is_lapsed, sum(cost) AS amount
  FROM usage_event WHERE cost > 0 AND ${only('account_id', accounts)} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
), spent AS (
  SELECT account_id, s.scope, s.scope_id, hour, sum(amount) AS amount,
    sum(CASE WHEN is_lapsed AND s.scope <> 'key' THEN amount ELSE 0 END) AS lapsed
  FROM grouped CROSS JOIN LATERAL (VALUES ('key', key_id), ${model}
    ('team_member', team_id || '/' || member_id), ('member', CASE WHEN org_id IS NOT NULL THEN member_id END),
    ('team', team_id), ('org', org_id)) AS s(scope, scope_id)
  WHERE s.scope_id IS NOT NULL GROUP BY 1, 2, 3, 4
)`;
}

export function totalsSql(accounts: Accounts): string {
  return `${spentSql(accounts, false)}, both_sides AS (
  SELECT account_id, scope || ':' || scope_id AS scope, coalesce(s.amount, 0) AS amount, coalesce(s.lapsed, 0) AS lapsed,
    coalesce(t.amount, 0) AS held, coalesce(t.lapsed, 0) AS held_lapsed
  FROM spent s FULL JOIN (SELECT * FROM spend_total WHERE ${only('account_id', accounts)}) t
    USING (account_id, scope, scope_id)
)
SELECT 'total_differs' AS kind, account_id AS account, scope, ${text('amount')} AS expected, ${text('held')} AS found
FROM both_sides WHERE amount <> held
UNION ALL
SELECT 'lapsed_differs', account_id, scope, ${text('lapsed')}, ${text('held_lapsed')}
FROM both_sides WHERE lapsed <> held_lapsed`;
}

export function hoursSql(accounts: Accounts): string {
  return `${spentSql(accounts, true)}
SELECT 'hour_differs' AS kind, account_id AS account,
  scope || ':' || scope_id || ' ' || to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24"Z"') AS scope,
  ${text('s.amount')} AS expected, ${text('h.amount')} AS found
FROM spent s FULL JOIN (SELECT * FROM spend_hour WHERE ${only('account_id', accounts)}) h
  USING (account_id, scope, scope_id, hour)
WHERE coalesce(s.amount, 0) <> coalesce(h.amount, 0)`;
}

/** Hours of tags and end users that differ from the events since they are kept. */
export function carriedHoursSql(accounts: Accounts): string {
  return `
SELECT account_id, scope, scope_id, hour, ${text('s.amount')} AS expected, ${text('h.amount')} AS found
FROM (
    SELECT e.account_id, k.scope, k.scope_id, date_trunc('hour', e.created_at, 'UTC') AS hour, sum(e.cost) AS amount
    FROM usage_event e CROSS JOIN LATERAL ${CARRIED} AS c JOIN carried_scope k
      ON k.account_id = e.account_id AND k.scope = c.scope AND k.scope_id = c.scope_id AND k.since <= e.created_at
    WHERE e.cost > 0 AND ${only('e.account_id', accounts)} AND e.account_id IN (SELECT account_id FROM carried_scope)
    GROUP BY 1, 2, 3, 4) s
  FULL JOIN (SELECT * FROM carried_hour WHERE ${only('account_id', accounts)}) h USING (account_id, scope, scope_id, hour)
WHERE coalesce(s.amount, 0) <> coalesce(h.amount, 0)`;
}

function notAppliedSql(accounts: Accounts): string {
  return `
SELECT 'event_not_applied' AS kind, min(e.account_id) AS account, e.producer || '/' || e.epoch AS scope,
  count(*)::text AS expected, '0' AS found
FROM usage_event e LEFT JOIN producer p ON p.producer = e.producer AND p.epoch = e.epoch
WHERE ${only('e.account_id', accounts)} AND (p.producer IS NULL OR NOT p.applied @> e.seq)
GROUP BY e.producer, e.epoch`;
}

/** Cost of the events that were admitted while billing was off, and the payments of the platform for them. */
export function unbilledSql(accounts: Accounts): string {
  return `
SELECT 'unbilled_differs' AS kind, account_id AS account, NULL AS scope, ${text('e.amount')} AS expected,
  ${text('m.amount')} AS found
FROM (SELECT account_id, sum(cost) AS amount FROM usage_event
    WHERE is_unbilled AND cost > 0 AND ${only('account_id', accounts)} GROUP BY 1) e
  FULL JOIN (SELECT account_id, sum(amount) AS amount FROM (
      SELECT credit AS account_id, amount FROM transfer
      WHERE kind IN ('unbilled', 'unbilled_correction') AND debit = 'house' AND ${only('credit', accounts)}
      UNION ALL SELECT debit, -amount FROM transfer
      WHERE kind = 'unbilled_correction' AND credit = 'house' AND ${only('debit', accounts)}) AS paid GROUP BY 1) m
    USING (account_id)
WHERE coalesce(e.amount, 0) <> coalesce(m.amount, 0)`;
}

function paymentsSql(accounts: Accounts): string {
  return `
SELECT 'payment_differs' AS kind, account_id AS account, source AS scope, ${text('p.amount')} AS expected,
  ${text('m.amount')} AS found
FROM (SELECT account_id, id AS source, amount FROM payment
    WHERE state = 'succeeded' AND ${only('account_id', accounts)}) p
  FULL JOIN (SELECT credit AS account_id, source, amount FROM transfer
    WHERE kind IN ('payment', 'auto_recharge') AND ${only('credit', accounts)}) m USING (account_id, source)
WHERE coalesce(p.amount, 0) <> coalesce(m.amount, 0)`;
}

const PLATFORM = `
SELECT 'house_differs' AS kind, 'house' AS account, NULL AS scope, ${text('expected')} AS expected,
  ${text('found')} AS found
FROM (SELECT (SELECT coalesce(sum(house_cost), 0) FROM usage_event) AS expected,
  (SELECT coalesce(sum(CASE WHEN debit = 'house' THEN amount ELSE -amount END), 0)
   FROM transfer WHERE kind IN ('house', 'house_correction')) AS found) AS sums
WHERE expected <> found`;

const BALANCE = `
SELECT 'books_unbalanced' AS kind, NULL AS account, NULL AS scope, '0' AS expected, ${text('sum(posted)')} AS found
FROM account HAVING sum(posted) <> 0`;

/** Query of the dead letters, which have no account. */
const DEAD_LETTERS = `
SELECT 'dead_letter_open' AS kind, NULL AS account, coalesce(request_id || '/' || unit, digest) AS scope,
  '0' AS expected, '1' AS found
FROM dead_letter WHERE applied_at IS NULL AND closed_at IS NULL ORDER BY created_at LIMIT 1000`;

const GAPS = `
SELECT 'sequence_gap' AS kind, NULL AS account, producer || '/' || epoch AS scope,
  (upper(applied) - 1)::text AS expected, covered::text AS found
FROM producer, LATERAL (SELECT sum(upper(r) - lower(r)) AS covered FROM unnest(applied) AS r) AS ranges
WHERE NOT isempty(applied) AND covered < upper(applied) - 1`;

const WHOLE = [PLATFORM, BALANCE, GAPS];

/** The sums that the rule of the books names, each by its own path, from one snapshot. */
export async function sums(database: Queryable): Promise<Sums> {
  const { rows } = await database.query<Sums>(`
WITH credited AS (
  SELECT sum(CASE WHEN c.id = t.credit THEN t.amount ELSE -t.amount END) AS amount
  FROM transfer t JOIN account c ON c.id IN (t.credit, t.debit) AND c.kind = 'customer'
  WHERE t.kind NOT IN ('usage', 'usage_correction')
)
SELECT (SELECT ${text('sum(cost)')} FROM usage_event) AS costs,
  (SELECT ${text(`sum(CASE WHEN credit = 'revenue' THEN amount ELSE -amount END)`)} FROM transfer
    WHERE kind IN ('usage', 'usage_correction')) AS usage_transfers,
  trim_scale(coalesce((SELECT amount FROM credited), 0)
    - coalesce((SELECT sum(posted) FROM account WHERE kind = 'customer'), 0))::text AS balances_fell,
  (SELECT ${text('sum(amount)')} FROM spend_total WHERE scope = 'key' AND scope_id NOT LIKE '%/m:%') AS spend_totals,
  (SELECT ${text('sum(amount)')} FROM spend_hour WHERE scope = 'key') AS spend_hours`);
  return rows[0];
}

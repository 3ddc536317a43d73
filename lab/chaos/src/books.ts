import pg from 'pg';
import type { Sent } from './caller.js';
import { pico } from './work.js';

/** The ledger's sums of a run, and everything in it that is wrong. */
export interface Books {
  events: number;
  /** Units that a died edge left open, closed as `gateway_crash`. */
  crashed: number;
  /** Answers received whole that have no event. */
  lost: number;
  /** Sendings with more than one event. */
  doubled: number;
  /** USD of 10^-12. */
  costPico: bigint;
  differences: string[];
}

interface EventRow {
  request_id: string;
  account_id: string;
  key_id: string;
  tag: string | null;
  status: string;
  error_code: string | null;
  cost: string | null;
}

/** Work of many units, which has books of its own (long-work.ts). */
const LONG = ['/v1/batches', '/v1/video/generations', '/v1/responses'];

/** Every difference is a query that must answer no row; columns are shown as they are. */
const NO_ROWS: Readonly<Record<string, string>> = {
  'account.posted is not the sum of its transfers': `
    SELECT a.id, a.posted, coalesce(m.sum, 0) AS transfers FROM usage.account a LEFT JOIN (
      SELECT id, sum(amount) FROM (
        SELECT credit AS id, amount FROM usage.transfer UNION ALL SELECT debit, -amount FROM usage.transfer
      ) moved GROUP BY id) m ON m.id = a.id
    WHERE a.posted <> coalesce(m.sum, 0)`,
  'all accounts together are not zero': `
    SELECT sum(posted) FROM usage.account HAVING sum(posted) <> 0`,
  'an account has paid something else than its events cost': `
    SELECT coalesce(e.account_id, t.debit) AS account, e.sum AS events, t.sum AS transfers FROM
      (SELECT account_id, sum(cost) FROM usage.usage_event WHERE cost > 0 GROUP BY 1) e
      FULL JOIN (SELECT debit, sum(amount) FROM usage.transfer WHERE kind = 'usage' GROUP BY 1) t
        ON t.debit = e.account_id
    WHERE e.sum IS DISTINCT FROM t.sum`,
  'a transfer is not the sum of the events that it charges': `
    SELECT t.id, t.amount, e.sum AS events FROM usage.transfer t
      LEFT JOIN (SELECT transfer_id, sum(cost) FROM usage.usage_event GROUP BY 1) e ON e.transfer_id = t.id
    WHERE t.kind = 'usage' AND t.amount IS DISTINCT FROM e.sum`,
  'spend_total is not the sum of the events of its scope': `
    WITH spent AS (${spentBy('')})
    SELECT coalesce(s.scope, t.scope) AS scope, coalesce(s.scope_id, t.scope_id) AS id, s.sum AS events, t.amount
    FROM spent s FULL JOIN usage.spend_total t USING (account_id, scope, scope_id)
    WHERE s.sum IS DISTINCT FROM t.amount`,
  'spend_hour is not the sum of the events of its scope and hour': `
    WITH spent AS (${spentBy("date_trunc('hour', created_at, 'UTC')")})
    SELECT coalesce(s.scope, h.scope) AS scope, coalesce(s.scope_id, h.scope_id) AS id, s.sum AS events, h.amount
    FROM spent s FULL JOIN usage.spend_hour h USING (account_id, scope, scope_id, hour)
    WHERE s.sum IS DISTINCT FROM h.amount AND coalesce(s.scope_id, '') NOT LIKE '%/m:%'`,
  'a producer has a gap in its sequence': `
    SELECT producer, epoch, applied::text FROM usage.producer
    WHERE (SELECT count(*) FROM unnest(applied)) <> 1 OR lower(applied) <> 1`,
  'a sequence number is in use without being applied': `
    SELECT e.producer, e.epoch, e.seq FROM usage.usage_event e
      LEFT JOIN usage.producer p USING (producer, epoch)
    WHERE p.applied IS NULL OR NOT p.applied @> e.seq`,
  'a record became a dead letter': 'SELECT topic, reason, request_id FROM usage.dead_letter',
  'a sending has more than one event': `
    SELECT request_tags ->> 'chaos' AS tag, count(*) FROM usage.usage_event WHERE endpoint <> ALL ('{${LONG.join()}}')
    GROUP BY 1 HAVING count(*) > 1`,
  'units posted while Redis was away are not reported yet': `
    SELECT count(*) FROM usage.mirror_debt HAVING count(*) > 0`,
};

/** Spend of every scope that the chaos load has: key, key and model, team, member, org. */
function spentBy(hour: string): string {
  const more = hour === '' ? '' : `, ${hour} AS hour`;
  const groups = hour === '' ? '1, 2, 3' : '1, 2, 3, 4';
  const of = (scope: string, id: string, where = ''): string =>
    `SELECT account_id, '${scope}' AS scope, ${id} AS scope_id${more}, sum(cost) AS sum FROM usage.usage_event
     WHERE cost > 0 ${where} GROUP BY ${groups}`;
  const inOrg = 'AND org_id IS NOT NULL';
  return [
    of('key', 'key_id'),
    of('key', `key_id || '/m:' || model`),
    of('team', 'team_id', 'AND team_id IS NOT NULL'),
    of('team_member', `team_id || '/' || member_id`, 'AND team_id IS NOT NULL'),
    of('member', 'member_id', inOrg),
    of('org', 'org_id', inOrg),
  ].join(' UNION ALL ');
}

const ROWS_SHOWN = 3;

/** Compares what all callers saw since the start of the fleet with what its ledger says. */
export async function readBooks(databaseUrl: string, sent: readonly Sent[]): Promise<Books> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 5_000,
    query_timeout: 90_000,
  });
  await client.connect();
  try {
    // One snapshot, or a posting in between would look like a difference.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const differences: string[] = [];
    for (const [what, query] of Object.entries(NO_ROWS)) {
      const { rows } = await client.query<Record<string, unknown>>(query);
      if (rows.length > 0)
        differences.push(`${what} (${rows.length}): ${JSON.stringify(rows.slice(0, ROWS_SHOWN))}`);
    }
    const { rows } = await client.query<EventRow>(
      `SELECT request_id, account_id, key_id, request_tags ->> 'chaos' AS tag, status, error_code, cost::text
       FROM usage.usage_event WHERE endpoint <> ALL ($1)`,
      [LONG],
    );
    return compared(rows, sent, differences);
  } finally {
    await client.end();
  }
}

/** Pure: the events against what callers saw. */
export function compared(rows: readonly EventRow[], sent: readonly Sent[], known: string[]): Books {
  const differences = [...known];
  const byId = new Map(rows.map((row) => [row.request_id, row]));
  const tags = new Map<string, number>();
  for (const { tag } of rows) if (tag !== null) tags.set(tag, (tags.get(tag) ?? 0) + 1);
  const sentTags = new Set(sent.map(({ tag }) => tag));
  const faults: string[] = [];
  let lost = 0;
  for (const one of sent) {
    const event = byId.get(one.requestId);
    if (one.isWhole && event === undefined) lost += 1;
    const fault = event === undefined ? missingFault(one) : eventFault(one, event);
    if (fault !== null) faults.push(`${one.requestId} of ${one.edge} (${one.tag}): ${fault}`);
  }
  for (const { tag, request_id } of rows)
    if (tag === null || !sentTags.has(tag)) faults.push(`${request_id} was sent by nobody`);
  if (faults.length > 0)
    differences.push(
      `answers and events differ (${faults.length}): ${faults.slice(0, ROWS_SHOWN).join('; ')}`,
    );
  return {
    events: rows.length,
    crashed: rows.filter(({ error_code }) => error_code === 'gateway_crash').length,
    lost,
    doubled: [...tags.values()].filter((count) => count > 1).length,
    costPico: rows.reduce((sum, { cost }) => sum + (cost === null ? 0n : pico(cost)), 0n),
    differences,
  };
}

/** An answer that began has its event, however it ended: its INTENT was written before the upstream was called. */
function missingFault(one: Sent): string | null {
  return one.status === 200 ? `answered ${one.isWhole ? 'whole' : 'in part'} and has no event` : null;
}

function eventFault(one: Sent, event: EventRow): string | null {
  if (event.tag !== one.tag) return `its event has the tag ${event.tag}`;
  if (event.key_id !== one.keyId) return `its event is of key ${event.key_id}`;
  if (!one.isWhole) {
    const { work, fault } = one;
    const hasDied = work.ending === 'upstream_dies' && fault === 'cut';
    return hasDied && event.status !== 'error' ? `its upstream died, its event says ${event.status}` : null;
  }
  if (event.status !== 'success' || event.error_code !== null)
    return `answered whole, its event says ${event.status} ${event.error_code}`;
  if (event.cost === null || pico(event.cost) !== one.expectedPico)
    return `costs ${event.cost}, should cost ${one.expectedPico} of 10^-12 USD`;
  return null;
}

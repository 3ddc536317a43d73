import { Inject, Injectable } from '@nestjs/common';
import { CLOCK } from '@gateway/platform';
import type { Clock } from '@gateway/contracts';
import type pg from 'pg';
import { UsageDatabase } from '../postgres/usage-database.js';

/** Scopes above a key count the last 30 days. */
const WINDOW_MS = 30 * 86_400_000;
/** Time that lapses in one transaction at most, so that postings wait shortly. */
const STEP_MS = 3_600_000;
const STEPS_MAX = 1_000;

/** Moves the start of the 30-day window: what is older is counted no more, each event once. */
@Injectable()
export class WindowRollup {
  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Moves to now - 30 days. Answers how many scopes have changed; the limit store is owed their totals (Projections). */
  async roll(): Promise<number> {
    const target = this.clock.now() - WINDOW_MS;
    let changed = 0;
    for (let step = 0; step < STEPS_MAX; step += 1) {
      const { isDone, scopes } = await this.database.transaction((client) => lapse(client, target));
      changed += scopes;
      if (isDone) break;
    }
    return changed;
  }
}

/** Takes the window's lock, then accounts in id order, then the totals: the order of every posting. */
async function lapse(client: pg.PoolClient, target: number): Promise<{ isDone: boolean; scopes: number }> {
  const { rows } = await client.query<{ lapsed_to: Date }>('SELECT lapsed_to FROM spend_window FOR UPDATE');
  const from = rows[0].lapsed_to.getTime();
  if (from >= target) return { isDone: true, scopes: 0 };
  // Before the first roll there is no start: everything older goes at once.
  const to = from === 0 ? target : Math.min(target, from + STEP_MS);
  const slice = [new Date(from), new Date(to)];
  await client.query(
    `UPDATE account SET version = account.version + 1 FROM (
       SELECT id FROM account WHERE id IN (
         SELECT account_id FROM usage_event WHERE created_at >= $1 AND created_at < $2 AND cost > 0)
       ORDER BY id FOR UPDATE) AS locked WHERE account.id = locked.id`,
    slice,
  );
  const { rowCount } = await client.query(
    `WITH lapsed AS (
       SELECT e.account_id, s.scope, s.scope_id, sum(e.cost) AS amount
       FROM usage_event e CROSS JOIN LATERAL (VALUES
         ('team_member', e.team_id || '/' || e.member_id),
         ('member', CASE WHEN e.org_id IS NOT NULL THEN e.member_id END),
         ('team', e.team_id),
         ('org', e.org_id)) AS s(scope, scope_id)
       WHERE e.created_at >= $1 AND e.created_at < $2 AND e.cost > 0 AND s.scope_id IS NOT NULL
       GROUP BY e.account_id, s.scope, s.scope_id
     )
     UPDATE spend_total t SET lapsed = t.lapsed + l.amount FROM lapsed l
     WHERE t.account_id = l.account_id AND t.scope = l.scope AND t.scope_id = l.scope_id`,
    slice,
  );
  // One unit of each set of scopes: paying it reports them all. A refused account has no other projection that would.
  await client.query(
    `INSERT INTO mirror_debt (account_id, request_id, unit)
     SELECT DISTINCT ON (account_id, org_id, team_id, member_id) account_id, request_id, unit FROM usage_event
     WHERE created_at >= $1 AND created_at < $2 AND cost > 0 AND (org_id IS NOT NULL OR team_id IS NOT NULL)
     ORDER BY account_id, org_id, team_id, member_id, request_id, unit
     ON CONFLICT DO NOTHING`,
    slice,
  );
  await client.query('UPDATE spend_window SET lapsed_to = $1', [new Date(to)]);
  return { isDone: to === target, scopes: rowCount ?? 0 };
}

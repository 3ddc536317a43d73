import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';
import type pg from 'pg';
import { UsageDatabase } from '../postgres/usage-database.js';
import { carrierSql, isCarried, periodColumns } from './period-scopes.js';
import type { Scope } from './scopes.js';

const SECOND_MS = 1_000;
/** Events that one statement sums, behind the lock of the account: its postings wait for so long. */
const PART_EVENTS = 5_000;
/** Time for which an account sums before others may: the next question goes on with it. */
const TURN_MS = 10_000;
/** Scopes of an account whose hours are kept: twice its budgets. Of more the oldest are summed anew when they are asked for. */
const SCOPES_MAX = 2_000;
/** Accounts whose events are summed at once: each takes a connection. */
const ACCOUNTS_AT_ONCE = 4;
const PATIENCE_MS = 900;

/** A scope of an account, and the first hour that is asked for. */
interface Wanted extends Scope {
  accountId: string;
  from: Date;
}

type Asked = Scope & { accountId: string };

/**
 * Hours of spend of the tags and end users that have budgets. No posting keeps them of others: values of tags are without number. The
 * first question sums what is posted, backwards and part by part behind the lock of the account; from there on postings add.
 */
@Injectable()
export class CarriedScopes implements OnModuleDestroy {
  /** Sums under way, by account. */
  private readonly running = new Map<string, Promise<void>>();
  private isStopped = false;

  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Sums the hours of these scopes where that was not done. Throws where it takes too long or too much is summed already; it goes on. */
  async require(scopes: readonly Asked[]): Promise<void> {
    const end = this.clock.monotonic() + PATIENCE_MS;
    for (;;) {
      const wanted = await this.missing(scopes);
      if (wanted.length === 0) return;
      const left = end - this.clock.monotonic();
      if (left <= 0) throw new Error('the spend of a tag or an end user is being summed');
      const asleep = new AbortController();
      await Promise.race([this.sumAll(wanted), this.clock.sleep(left, asleep.signal)]).finally(() =>
        asleep.abort(),
      );
    }
  }

  /** Ends sums after their part, before the database goes. */
  async onModuleDestroy(): Promise<void> {
    this.isStopped = true;
    await Promise.allSettled(this.running.values());
  }

  /** Accounts among these whose hours are not summed yet; that is begun. */
  async begin(scopes: readonly Asked[]): Promise<Set<string>> {
    const wanted = await this.missing(scopes);
    this.sumAll(wanted).catch(() => undefined);
    return new Set(wanted.map(({ accountId }) => accountId));
  }

  private async missing(scopes: readonly Asked[]): Promise<Wanted[]> {
    const carried = scopes.filter(isCarried);
    if (carried.length === 0) return [];
    const { scopeIds, hoursFrom } = periodColumns(carried, this.clock.now());
    const { rows } = await this.database.pool.query<{ n: number }>({
      name: 'carried-missing',
      text: `SELECT w.n::int FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[])
          WITH ORDINALITY AS w(account_id, scope, scope_id, hours_from, n)
        WHERE NOT EXISTS (SELECT FROM carried_scope s WHERE s.account_id = w.account_id AND s.scope = w.scope
          AND s.scope_id = w.scope_id AND s.since <= w.hours_from)`,
      values: [
        carried.map(({ accountId }) => accountId),
        carried.map(({ kind }) => kind),
        scopeIds,
        hoursFrom,
      ],
    });
    return rows.flatMap(({ n }) => {
      const from = hoursFrom[n - 1];
      return from === null ? [] : [{ ...carried[n - 1], id: scopeIds[n - 1], from }];
    });
  }

  private async sumAll(wanted: readonly Wanted[]): Promise<void> {
    const byAccount = [...Map.groupBy(wanted, ({ accountId }) => accountId)];
    await Promise.all(byAccount.map(([accountId, ofIt]) => this.sum(accountId, ofIt)));
  }

  /** Sums scopes of one account, one account once at a time. */
  private sum(accountId: string, wanted: readonly Wanted[]): Promise<void> {
    const { running } = this;
    const before = running.get(accountId);
    if (before !== undefined) return before;
    if (running.size >= ACCOUNTS_AT_ONCE)
      return Promise.reject(new Error('the spend of too many accounts is being summed'));
    const sum = this.sumEach(wanted).finally(() => running.delete(accountId));
    running.set(accountId, sum);
    return sum;
  }

  private async sumEach(wanted: readonly Wanted[]): Promise<void> {
    const end = this.clock.monotonic() + TURN_MS;
    for (const scope of wanted) {
      await this.database.transaction((client) => this.keep(client, scope));
      while (await this.database.transaction((client) => sumPart(client, scope)))
        if (this.isStopped || this.clock.monotonic() > end) return;
    }
  }

  /** Has postings add to it from this commit on, and sums what they have posted before of the second that runs. */
  private async keep(client: pg.PoolClient, { accountId, kind, id }: Wanted): Promise<void> {
    await lockAccount(client, accountId);
    const now = new Date(this.clock.now());
    const since = wholeSecond(now.getTime());
    const { rowCount } = await client.query(
      'INSERT INTO carried_scope (account_id, scope, scope_id, since, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING',
      [accountId, kind, id, since, now],
    );
    if (rowCount === 0) return;
    await addHours(client, { accountId, kind, id }, since, 'infinity');
    await client.query(
      `WITH old AS (DELETE FROM carried_scope WHERE account_id = $1 AND (scope, scope_id) IN (
          SELECT scope, scope_id FROM carried_scope WHERE account_id = $1
          ORDER BY created_at DESC, scope, scope_id OFFSET ${SCOPES_MAX})
        RETURNING scope, scope_id)
       DELETE FROM carried_hour h USING old WHERE h.account_id = $1 AND h.scope = old.scope AND h.scope_id = old.scope_id`,
      [accountId],
    );
  }
}

/** Locks the account as a posting does, which may be the first to write its row. */
async function lockAccount(client: pg.PoolClient, accountId: string): Promise<void> {
  await client.query(`INSERT INTO account (id, kind) VALUES ($1, 'customer') ON CONFLICT DO NOTHING`, [
    accountId,
  ]);
  await client.query('SELECT FROM account WHERE id = $1 FOR UPDATE', [accountId]);
}

/** Sums the next part backwards: whole seconds, of so many events that postings may wait for it. False where nothing is left to do. */
async function sumPart(client: pg.PoolClient, { accountId, kind, id, from }: Wanted): Promise<boolean> {
  await lockAccount(client, accountId);
  const place = [accountId, kind, id];
  const { rows } = await client.query<{ since: Date; left: Date | null }>(
    `SELECT since, (SELECT created_at FROM usage_event e WHERE e.account_id = $1 AND e.created_at < s.since
       ORDER BY e.created_at DESC OFFSET ${PART_EVENTS} LIMIT 1) AS left
     FROM carried_scope s WHERE account_id = $1 AND scope = $2 AND scope_id = $3`,
    place,
  );
  const row = rows.at(0);
  if (row === undefined || row.since <= from) return false;
  const { since, left } = row;
  const partMs = left === null ? -Infinity : Math.min(left.getTime(), since.getTime() - SECOND_MS);
  const next = wholeSecond(Math.max(from.getTime(), partMs));
  await addHours(client, { accountId, kind, id }, next, since);
  await client.query(
    'UPDATE carried_scope SET since = $4 WHERE account_id = $1 AND scope = $2 AND scope_id = $3',
    [...place, next],
  );
  return next > from;
}

function wholeSecond(ms: number): Date {
  return new Date(Math.floor(ms / SECOND_MS) * SECOND_MS);
}

const ADD_HOURS = `
  INSERT INTO carried_hour (account_id, scope, scope_id, hour, amount)
  SELECT $1, $2, $3, date_trunc('hour', e.created_at, 'UTC'), sum(e.cost) FROM usage_event e
  WHERE e.account_id = $1 AND e.created_at >= $4 AND e.created_at < $5 AND e.cost > 0 AND $3 = ${carrierSql('$2', '$3')}
  GROUP BY 4
  ON CONFLICT (account_id, scope, scope_id, hour) DO UPDATE SET amount = carried_hour.amount + excluded.amount`;

async function addHours(
  client: pg.PoolClient,
  { accountId, kind, id }: Asked,
  from: Date,
  before: Date | 'infinity',
): Promise<void> {
  await client.query({
    name: 'sum-carried-hours',
    text: ADD_HOURS,
    values: [accountId, kind, id, from, before],
  });
}

/** Removes what is kept of scopes of an account: all of them, or one. What still has a budget is summed anew. */
export async function forgetCarried(
  client: Pick<pg.PoolClient, 'query'>,
  accountId: string,
  only: Scope | null = null,
): Promise<void> {
  for (const table of ['carried_scope', 'carried_hour'])
    await client.query(
      `DELETE FROM ${table} WHERE account_id = $1 AND ($2::text IS NULL OR (scope = $2 AND scope_id = $3::text))`,
      [accountId, only?.kind ?? null, only?.id ?? null],
    );
}

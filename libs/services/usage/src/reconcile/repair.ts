import { uuidv7, type Clock, type Random } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import type pg from 'pg';
import { readBatch } from '../posting/read-batch.js';
import type { PostingStore } from '../posting/posting.store.js';
import type { Projections } from '../projection/projections.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import type { Finding } from './finding.js';
import type { MissingUnit } from './journal-proof.js';
import { carriedHoursSql, hoursSql, linksSql, totalsSql, unbilledSql } from './ledger-proof.js';
import { rebuildOwed } from './owed-proof.js';
import { rebuildQuarterHours } from './slots-proof.js';
import { rebuildTags } from './tags-proof.js';

interface Deps {
  database: UsageDatabase;
  store: PostingStore;
  projections: Projections;
  clock: Clock;
  random: Random;
}

const REVENUE = 'revenue';
const PLATFORM = 'house';

/**
 * Mends what a proof has found. Money moves by new transfers alone: a correction names the transfer it corrects.
 * Balances and buckets are sums of rows that nobody changes; they are made again from them, under the account's lock,
 * with a new ledger version. What only time or an operator can mend is left: gaps, rows that are gone, prices, payments,
 * and what the limit store holds without a unit.
 */
export async function repair(
  findings: readonly Finding[],
  missing: readonly MissingUnit[],
  deps: Deps,
): Promise<void> {
  // First what brings new events: everything after is a sum over them.
  for (const { record } of missing) await deps.store.post([readBatch([record])]);
  const accounts = new Set<string>();
  for (const { kind, account, scope } of findings) {
    if (kind === 'house_differs') await repairPlatform(deps);
    if (kind === 'event_not_applied' && scope !== null) await noteApplied(scope, deps);
    if (account !== null && account !== 'house') accounts.add(account);
  }
  await rebuildOwed(findings, deps.database);
  // The platform's own accounts last, as every posting locks them.
  const own = [PLATFORM, REVENUE];
  const customers = [...accounts].filter((account) => !own.includes(account)).toSorted();
  for (const account of customers) await repairAccount(account, deps);
  for (const account of own) await repairBalance(account, deps);
  for (const account of customers) await report(account, findings, deps);
}

interface Difference {
  scope: string;
  expected: string;
  found: string;
}

async function repairAccount(account: string, deps: Deps): Promise<void> {
  await deps.database.transaction(async (client) => {
    await client.query('SELECT lapsed_to FROM spend_window FOR SHARE');
    await lock(client, account);
    const { rows } = await client.query<Difference>(linksSql([account]), [[account]]);
    for (const difference of rows) await correct(client, account, difference, deps);
    await repayUnbilled(client, account, deps);
    await rebuildBuckets(client, account);
    await rebuildQuarterHours(client, account);
    await rebuildTags(client, account);
    await rebuildBalance(client, account);
  });
}

/** Locks the account, and that of events whose posting never made it. */
async function lock(client: pg.PoolClient, account: string): Promise<void> {
  await client.query(`INSERT INTO account (id, kind) VALUES ($1, 'customer') ON CONFLICT (id) DO NOTHING`, [
    account,
  ]);
  await client.query('SELECT 1 FROM account WHERE id = $1 FOR UPDATE', [account]);
}

async function correct(
  client: pg.PoolClient,
  account: string,
  { scope: link, expected, found }: Difference,
  deps: Deps,
): Promise<void> {
  const amount = Usd.parse(expected).minus(Usd.parse(found));
  await insertCorrection(client, { kind: 'usage_correction', link, payer: account, amount }, deps);
}

/** The platform pays for the account what it has not paid of the time without billing, or takes back what was too much. */
async function repayUnbilled(client: pg.PoolClient, account: string, deps: Deps): Promise<void> {
  const { rows } = await client.query<Difference>(unbilledSql([account]), [[account]]);
  for (const { expected, found } of rows) {
    const amount = Usd.parse(expected).minus(Usd.parse(found));
    const way = { link: account, payer: PLATFORM, payee: account };
    await insertCorrection(client, { kind: 'unbilled_correction', ...way, amount }, deps);
  }
}

interface Correction {
  kind: string;
  link: string;
  payer: string;
  payee?: string;
  /** Amount in USD; money moves the other way where it is below 0. */
  amount: Usd;
}

async function insertCorrection(
  client: pg.PoolClient,
  { kind, link, payer, payee = REVENUE, amount }: Correction,
  { clock, random }: Deps,
): Promise<void> {
  const id = uuidv7(clock, random);
  const [debit, credit] = amount.isNegative() ? [payee, payer] : [payer, payee];
  await client.query(
    `INSERT INTO transfer (id, kind, source, debit, credit, amount, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      id,
      kind,
      `${link}/${id}`,
      debit,
      credit,
      (amount.isNegative() ? amount.neg() : amount).toString(),
      new Date(clock.now()),
    ],
  );
}

async function repairPlatform(deps: Deps): Promise<void> {
  await deps.database.transaction(async (client) => {
    await lock(client, 'house');
    const { rows } = await client.query<{ owed: string }>(
      `SELECT ((SELECT coalesce(sum(house_cost), 0) FROM usage_event) - coalesce(sum(
         CASE WHEN debit = 'house' THEN amount ELSE -amount END), 0))::text AS owed
       FROM transfer WHERE kind IN ('house', 'house_correction')`,
    );
    const amount = Usd.parse(rows[0].owed);
    if (!amount.isZero())
      await insertCorrection(
        client,
        { kind: 'house_correction', link: 'house', payer: 'house', amount },
        deps,
      );
  });
}

async function repairBalance(account: string, { database }: Deps): Promise<void> {
  await database.transaction(async (client) => {
    await client.query('SELECT 1 FROM account WHERE id = $1 FOR UPDATE', [account]);
    await rebuildBalance(client, account);
  });
}

/** Raises the version also where only buckets have changed: the limit store takes no equal one back. */
async function rebuildBalance(client: pg.PoolClient, account: string): Promise<void> {
  await client.query(
    `UPDATE account SET version = version + 1, posted = coalesce((
       SELECT sum(CASE WHEN credit = $1 THEN amount ELSE -amount END) FROM transfer WHERE $1 IN (credit, debit)), 0)
     WHERE id = $1`,
    [account],
  );
}

async function rebuildBuckets(client: pg.PoolClient, account: string): Promise<void> {
  const { rows: totals } = await client.query<Difference & { kind: string }>(totalsSql([account]), [
    [account],
  ]);
  for (const { kind, scope: name, expected } of totals) {
    const column = kind === 'lapsed_differs' ? 'lapsed' : 'amount';
    const [scope, id] = scopeOf(name);
    await client.query(
      `INSERT INTO spend_total AS t (account_id, scope, scope_id, amount, ${column === 'amount' ? 'lapsed' : column})
       VALUES ($1, $2, $3, ${column === 'amount' ? '$4::numeric, 0' : '0, $4::numeric'})
       ON CONFLICT (account_id, scope, scope_id) DO UPDATE SET ${column} = $4::numeric`,
      [account, scope, id, expected],
    );
  }
  const { rows: hours } = await client.query<Difference>(hoursSql([account]), [[account]]);
  for (const { scope: name, expected } of hours) {
    const [scope, rest] = scopeOf(name);
    const space = rest.lastIndexOf(' ');
    await client.query(
      `INSERT INTO spend_hour (account_id, scope, scope_id, hour, amount) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (account_id, scope, scope_id, hour) DO UPDATE SET amount = excluded.amount`,
      [account, scope, rest.slice(0, space), rest.slice(space + 1).replace('Z', ':00:00Z'), expected],
    );
  }
  await client.query(
    `INSERT INTO carried_hour (account_id, scope, scope_id, hour, amount)
     SELECT account_id, scope, scope_id, hour, expected::numeric FROM (${carriedHoursSql([account])}) AS different
     ON CONFLICT (account_id, scope, scope_id, hour) DO UPDATE SET amount = excluded.amount`,
    [[account]],
  );
}

function scopeOf(name: string): [string, string] {
  const colon = name.indexOf(':');
  return [name.slice(0, colon), name.slice(colon + 1)];
}

/** The numbers of events that are in are applied, whatever became of their note. */
async function noteApplied(epochName: string, { database }: Deps): Promise<void> {
  const slash = epochName.lastIndexOf('/');
  await database.pool.query(
    `INSERT INTO producer AS p (producer, epoch, applied)
     SELECT producer, epoch, range_agg(int8range(seq, seq, '[]')) FROM usage_event
     WHERE producer = $1 AND epoch = $2 GROUP BY producer, epoch
     ON CONFLICT (producer, epoch) DO UPDATE SET applied = p.applied + excluded.applied, updated_at = now()`,
    [epochName.slice(0, slash), epochName.slice(slash + 1)],
  );
}

/** Posted totals and units of the account, to the limit store. */
async function report(
  account: string,
  findings: readonly Finding[],
  { database, projections }: Deps,
): Promise<void> {
  const held = findings.filter((finding) => finding.kind === 'unit_held' && finding.account === account);
  const { rows: scopes } = await database.pool.query(
    'SELECT scope AS kind, scope_id AS id FROM spend_total WHERE account_id = $1',
    [account],
  );
  await projections.refresh([{ accountId: account, scopes }]);
  if (held.length > 0)
    await projections.reportUnits(
      account,
      held.flatMap(({ scope }) => scope ?? []),
    );
}

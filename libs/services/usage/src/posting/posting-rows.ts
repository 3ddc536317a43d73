import type { RejectionRecord, UsageRecord } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import type pg from 'pg';
import { arrayLiteral } from '../postgres/array-literal.js';
import { HISTORY } from '../postgres/ledger-history.js';
import { INSERT_EVENTS, type EventForm } from './event-columns.js';
import type { AccountChange, Posting } from './posting.js';
import type { Stamp } from './read-batch.js';
import type { AddedUp } from './sums.js';
import { appliedRanges } from './sequence-ranges.js';

/** The roller waits until the posting has committed: which spend is older than the window stays one answer. */
export async function holdWindow(
  client: pg.PoolClient,
): Promise<{ lapsedTo: number; tagsClaimedTo: number; owedFrom: string | null } & AddedUp> {
  const { rows } = await client.query<{
    lapsed_to: Date;
    days_to: Date;
    hours_from: Date;
    tags_claimed_to: Date;
    owed_from: string | null;
  }>({
    name: 'hold-window',
    text: 'SELECT lapsed_to, days_to, hours_from, tags_claimed_to, owed_from FROM spend_window FOR SHARE',
  });
  const [{ lapsed_to, days_to, hours_from, tags_claimed_to, owed_from }] = rows;
  return {
    lapsedTo: lapsed_to.getTime(),
    daysTo: days_to.getTime(),
    hoursFrom: hours_from.getTime(),
    tagsClaimedTo: tags_claimed_to.getTime(),
    owedFrom: owed_from,
  };
}

export async function insertEvents(
  client: pg.PoolClient,
  units: readonly UsageRecord[],
  /** Values made by `eventValues` for this form. */
  values: string[],
  form: EventForm,
): Promise<UsageRecord[]> {
  if (units.length === 0) return [];
  const { rows } = await client.query<{ request_id: string; unit: number }>({
    ...INSERT_EVENTS[form],
    values,
  });
  if (rows.length === units.length) return [...units];
  const written = new Set(rows.map(({ request_id, unit }) => `${request_id}/${unit}`));
  return units.filter(({ request_id, unit }) => written.has(`${request_id}/${unit}`));
}

/** A customer's account as a posting leaves it. */
export interface Balance {
  id: string;
  /** Versions of another history do not compare. */
  history: number;
  version: number;
  posted: Usd;
}

/** Locks and updates in the order of the list, which is by id. */
export async function moveAccounts(
  client: pg.PoolClient,
  accounts: readonly AccountChange[],
  at: string,
): Promise<Balance[]> {
  if (accounts.length === 0) return [];
  const { rows } = await client.query<{ id: string; history: number; version: string; posted: string }>({
    name: 'move-accounts',
    text: `INSERT INTO account (id, kind, org_id, posted, version, updated_at)
      SELECT id, kind, org_id, delta, 1, $5
      FROM unnest($1::text[], $2::text[], $3::text[], $4::numeric[]) AS a(id, kind, org_id, delta)
      ON CONFLICT (id) DO UPDATE SET posted = account.posted + excluded.posted, version = account.version + 1,
        org_id = coalesce(account.org_id, excluded.org_id), updated_at = excluded.updated_at
      RETURNING id, (SELECT ${HISTORY}) AS history, version::text, posted::text`,
    values: [
      arrayLiteral(accounts.map(({ id }) => id)),
      arrayLiteral(accounts.map(({ kind }) => kind)),
      arrayLiteral(accounts.map(({ orgId }) => orgId)),
      arrayLiteral(accounts.map(({ delta }) => delta.toString())),
      at,
    ],
  });
  return rows.map(({ id, history, version, posted }) => ({
    id,
    history,
    version: Number(version),
    posted: Usd.parse(posted),
  }));
}

export async function insertTransfers(
  client: pg.PoolClient,
  { transfers }: Posting,
  at: string,
): Promise<void> {
  if (transfers.length === 0) return;
  await client.query({
    name: 'insert-transfers',
    text: `INSERT INTO transfer (id, kind, source, debit, credit, amount, created_at)
      SELECT *, $7 FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[])`,
    values: [
      arrayLiteral(transfers.map(({ id }) => id)),
      arrayLiteral(transfers.map(({ kind }) => kind)),
      arrayLiteral(transfers.map(({ source }) => source)),
      arrayLiteral(transfers.map(({ debit }) => debit)),
      arrayLiteral(transfers.map(({ credit }) => credit)),
      arrayLiteral(transfers.map(({ amount }) => amount.toString())),
      at,
    ],
  });
}

export async function addHours(client: pg.PoolClient, { hours }: Posting): Promise<void> {
  if (hours.length === 0) return;
  await client.query({
    name: 'add-hours',
    text: `INSERT INTO spend_hour (account_id, scope, scope_id, hour, amount)
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::numeric[])
      ON CONFLICT (account_id, scope, scope_id, hour) DO UPDATE SET amount = spend_hour.amount + excluded.amount`,
    values: [
      arrayLiteral(hours.map(({ accountId }) => accountId)),
      arrayLiteral(hours.map(({ scope }) => scope)),
      arrayLiteral(hours.map(({ scopeId }) => scopeId)),
      arrayLiteral(hours.map(({ hour }) => hour)),
      arrayLiteral(hours.map(({ amount }) => amount.toString())),
    ],
  });
}

/** A scope's spend as a posting leaves it. */
export interface Total {
  accountId: string;
  scope: string;
  scopeId: string;
  amount: Usd;
  /** Amount that counts for its cap: lifetime spend of a key, the last 30 days above. */
  counted: Usd;
}

export async function addTotals(client: pg.PoolClient, { totals }: Posting): Promise<Total[]> {
  if (totals.length === 0) return [];
  const { rows } = await client.query<{
    account_id: string;
    scope: string;
    scope_id: string;
    amount: string;
    counted: string;
  }>({
    name: 'add-totals',
    text: `INSERT INTO spend_total (account_id, scope, scope_id, amount, lapsed)
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::numeric[])
      ON CONFLICT (account_id, scope, scope_id) DO UPDATE
        SET amount = spend_total.amount + excluded.amount, lapsed = spend_total.lapsed + excluded.lapsed
      RETURNING account_id, scope, scope_id, amount::text,
        (CASE WHEN scope = 'key' THEN amount ELSE amount - lapsed END)::text AS counted`,
    values: [
      arrayLiteral(totals.map(({ accountId }) => accountId)),
      arrayLiteral(totals.map(({ scope }) => scope)),
      arrayLiteral(totals.map(({ scopeId }) => scopeId)),
      arrayLiteral(totals.map(({ amount }) => amount.toString())),
      arrayLiteral(totals.map(({ lapsed }) => lapsed.toString())),
    ],
  });
  return rows.map((row) => ({
    accountId: row.account_id,
    scope: row.scope,
    scopeId: row.scope_id,
    amount: Usd.parse(row.amount),
    counted: Usd.parse(row.counted),
  }));
}

const REJECTION_COLUMNS = [
  'request_id',
  'created_at',
  'account_id',
  'org_id',
  'team_id',
  'member_id',
  'key_id',
  'endpoint',
  'model',
  'requested_model',
  'http_status',
  'code',
  'message',
  'scope',
  'scope_id',
  'limit_type',
  'money',
  'budget_id',
  'count',
  'request_tags',
  'producer',
  'epoch',
  'seq',
] as const satisfies readonly (keyof RejectionRecord)[];

export async function insertRejections(
  client: pg.PoolClient,
  rejections: readonly RejectionRecord[],
): Promise<void> {
  if (rejections.length === 0) return;
  // In key order: two batches that hold the same records must wait for each other, not in a ring.
  const rows = rejections
    .toSorted(byStamp)
    .map((rejection) => Object.fromEntries(REJECTION_COLUMNS.map((name) => [name, rejection[name] ?? null])));
  await client.query({
    name: 'insert-rejections',
    text: `INSERT INTO rejection (${REJECTION_COLUMNS.join(', ')})
      SELECT ${REJECTION_COLUMNS.join(', ')} FROM jsonb_populate_recordset(null::rejection, $1::jsonb)
      ON CONFLICT (producer, epoch, seq) DO NOTHING`,
    values: [JSON.stringify(rows)],
  });
}

export async function raiseWatermarks(client: pg.PoolClient, stamps: readonly Stamp[]): Promise<void> {
  const applied = appliedRanges(stamps);
  if (applied.length === 0) return;
  await client.query({
    name: 'raise-watermarks',
    text: `INSERT INTO producer AS p (producer, epoch, applied)
      SELECT * FROM unnest($1::text[], $2::text[], $3::int8multirange[])
      ON CONFLICT (producer, epoch) DO UPDATE SET applied = p.applied + excluded.applied, updated_at = now()`,
    values: [
      arrayLiteral(applied.map(({ producer }) => producer)),
      arrayLiteral(applied.map(({ epoch }) => epoch)),
      arrayLiteral(applied.map(({ ranges }) => ranges)),
    ],
  });
}

function byStamp(a: Stamp, b: Stamp): number {
  if (a.producer !== b.producer) return a.producer < b.producer ? -1 : 1;
  if (a.epoch !== b.epoch) return a.epoch < b.epoch ? -1 : 1;
  return a.seq - b.seq;
}

import {
  TOPIC,
  type Clock,
  type Random,
  type RejectionRecord,
  type UsageRecord,
  newId,
  uuidv7,
} from '@gateway/contracts';
import { Usd } from '@gateway/money';
import { outboxRow } from '@gateway/platform';
import type pg from 'pg';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { eventArrays, INSERT_EVENTS, isCharged } from './event-columns.js';
import { insertDeadLetters } from './dead-letters.js';
import { insertOutbox, type OutboxRow } from '../postgres/outbox-rows.js';
import { planPosting, type Posting } from './posting.js';
import { CRASH_CODE, type ReadBatch, type Stamp } from './read-batch.js';
import { appliedRanges } from './sequence-ranges.js';

interface StoreDeps {
  database: UsageDatabase;
  clock: Clock;
  random: Random;
}

interface Balance {
  id: string;
  posted: Usd;
}

/** Posts a batch in one transaction (money-and-limits 5). */
export class PostingStore {
  constructor(private readonly deps: StoreDeps) {}

  /** Answers the units that are new. A redelivered batch changes nothing. Throws what PostgreSQL says. */
  async post(batch: ReadBatch): Promise<UsageRecord[]> {
    const units = onePerUnit(batch);
    const transferIds = this.drawTransfers(units);
    return this.deps.database.transaction(async (client) => {
      const lapsedTo = await holdWindow(client);
      const fresh = await insertEvents(client, units, transferIds);
      if (fresh.length > 0) {
        const context = { transferIds, houseTransferId: this.uuid(), lapsedTo };
        await this.move(client, fresh, planPosting(fresh, context));
      }
      await insertRejections(
        client,
        batch.rejections.map(({ rejection }) => rejection),
      );
      await insertDeadLetters(client, batch.unusable, this.deps);
      await raiseWatermarks(client, stampsOf(batch));
      return fresh;
    });
  }

  private drawTransfers(units: readonly UsageRecord[]): Map<string, string> {
    const ids = new Map<string, string>();
    for (const unit of units) {
      if (!ids.has(unit.account_id) && isCharged(unit)) ids.set(unit.account_id, this.uuid());
    }
    return ids;
  }

  private async move(client: pg.PoolClient, fresh: readonly UsageRecord[], posting: Posting): Promise<void> {
    const at = new Date(this.deps.clock.now()).toISOString();
    const balances = await moveAccounts(client, posting, at);
    await insertTransfers(client, posting, at);
    await addHours(client, posting);
    const totals = await addTotals(client, posting);
    await insertOutbox(client, this.movements(fresh, posting, balances, totals));
  }

  /** Balance movements per account and spend movements per capped key, for the notifications service. */
  private movements(
    fresh: readonly UsageRecord[],
    posting: Posting,
    balances: readonly Balance[],
    totals: ReadonlyMap<string, Usd>,
  ): OutboxRow[] {
    const orgs = new Map(fresh.map((unit) => [unit.account_id, unit.org_id ?? null]));
    const rows: OutboxRow[] = [];
    const deltas = new Map(posting.accounts.map((account) => [account.id, account.delta]));
    for (const { id, posted } of balances) {
      const delta = deltas.get(id);
      if (delta === undefined || delta.isZero() || !orgs.has(id)) continue;
      const data = { balance_before: posted.minus(delta).toString(), balance_after: posted.toString() };
      rows.push(this.event('balance.movement', id, orgs.get(id) ?? null, data));
    }
    for (const { accountId, scopeId, scope, amount } of posting.totals) {
      const cap = scope === 'key' ? capOf(fresh, accountId, scopeId) : null;
      const after = totals.get(`${accountId}\n${scopeId}`);
      if (cap === null || after === undefined) continue;
      const data = {
        key_id: scopeId,
        spent_before: after.minus(amount).toString(),
        spent_after: after.toString(),
        cap_usd: cap,
      };
      rows.push(this.event('spend.movement', accountId, orgs.get(accountId) ?? null, data));
    }
    return rows;
  }

  private event(
    type: 'balance.movement' | 'spend.movement',
    accountId: string,
    orgId: string | null,
    data: Readonly<Record<string, unknown>>,
  ): OutboxRow {
    const { clock, random } = this.deps;
    const id = newId('evt', clock, random);
    const created_at = new Date(clock.now()).toISOString();
    const event = { id, type, created_at, account_id: accountId, org_id: orgId, data };
    return outboxRow({ topic: TOPIC.account, key: accountId, source: '/usage', id, data: event }, this.deps);
  }

  private uuid(): string {
    return uuidv7(this.deps.clock, this.deps.random);
  }
}

/** A batch may hold a unit several times; a real outcome goes before one for a died process. In key order. */
function onePerUnit(batch: ReadBatch): UsageRecord[] {
  const units = new Map<string, UsageRecord>();
  for (const { usage } of batch.usage) {
    const name = `${usage.request_id}/${usage.unit}`;
    const known = units.get(name);
    if (known === undefined || known.error_code === CRASH_CODE) units.set(name, usage);
  }
  return [...units].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, unit]) => unit);
}

/** The last cap that admission saw on a key. */
function capOf(fresh: readonly UsageRecord[], accountId: string, keyId: string): string | null {
  const unit = fresh.findLast((event) => event.account_id === accountId && event.key_id === keyId);
  return unit?.limits.find((limit) => limit.scope === 'key' && limit.scope_id === keyId)?.cap_usd ?? null;
}

function stampsOf(batch: ReadBatch): Stamp[] {
  return [
    ...batch.usage.map(({ usage }) => usage),
    ...batch.rejections.map(({ rejection }) => rejection),
    ...batch.unusable.flatMap(({ stamp }) => stamp ?? []),
  ];
}

/** The roller waits until the posting has committed: which spend is older than the window stays one answer. */
async function holdWindow(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ lapsed_to: Date }>({
    name: 'hold-window',
    text: 'SELECT lapsed_to FROM spend_window FOR SHARE',
  });
  return rows[0].lapsed_to.getTime();
}

async function insertEvents(
  client: pg.PoolClient,
  units: readonly UsageRecord[],
  transferIds: ReadonlyMap<string, string>,
): Promise<UsageRecord[]> {
  if (units.length === 0) return [];
  const { rows } = await client.query<{ request_id: string; unit: number }>({
    name: 'insert-events',
    text: INSERT_EVENTS,
    values: eventArrays(units, transferIds),
  });
  if (rows.length === units.length) return [...units];
  const written = new Set(rows.map(({ request_id, unit }) => `${request_id}/${unit}`));
  return units.filter(({ request_id, unit }) => written.has(`${request_id}/${unit}`));
}

/** Locks and updates in the order of the list, which is by id. */
async function moveAccounts(client: pg.PoolClient, { accounts }: Posting, at: string): Promise<Balance[]> {
  const { rows } = await client.query<{ id: string; posted: string }>({
    name: 'move-accounts',
    text: `INSERT INTO account (id, kind, org_id, posted, version, updated_at)
      SELECT id, kind, org_id, delta, 1, $5
      FROM unnest($1::text[], $2::text[], $3::text[], $4::numeric[]) AS a(id, kind, org_id, delta)
      ON CONFLICT (id) DO UPDATE SET posted = account.posted + excluded.posted, version = account.version + 1,
        org_id = coalesce(account.org_id, excluded.org_id), updated_at = excluded.updated_at
      RETURNING id, posted::text`,
    values: [
      accounts.map(({ id }) => id),
      accounts.map(({ kind }) => kind),
      accounts.map(({ orgId }) => orgId),
      accounts.map(({ delta }) => delta.toString()),
      at,
    ],
  });
  return rows.map(({ id, posted }) => ({ id, posted: Usd.parse(posted) }));
}

async function insertTransfers(client: pg.PoolClient, { transfers }: Posting, at: string): Promise<void> {
  if (transfers.length === 0) return;
  await client.query({
    name: 'insert-transfers',
    text: `INSERT INTO transfer (id, kind, source, debit, credit, amount, created_at)
      SELECT *, $7 FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[])`,
    values: [
      transfers.map(({ id }) => id),
      transfers.map(({ kind }) => kind),
      transfers.map(({ source }) => source),
      transfers.map(({ debit }) => debit),
      transfers.map(({ credit }) => credit),
      transfers.map(({ amount }) => amount.toString()),
      at,
    ],
  });
}

async function addHours(client: pg.PoolClient, { hours }: Posting): Promise<void> {
  if (hours.length === 0) return;
  await client.query({
    name: 'add-hours',
    text: `INSERT INTO spend_hour (account_id, scope, scope_id, hour, amount)
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::numeric[])
      ON CONFLICT (account_id, scope, scope_id, hour) DO UPDATE SET amount = spend_hour.amount + excluded.amount`,
    values: [
      hours.map(({ accountId }) => accountId),
      hours.map(({ scope }) => scope),
      hours.map(({ scopeId }) => scopeId),
      hours.map(({ hour }) => hour),
      hours.map(({ amount }) => amount.toString()),
    ],
  });
}

/** Answers the new lifetime spend of the keys. */
async function addTotals(client: pg.PoolClient, { totals }: Posting): Promise<Map<string, Usd>> {
  if (totals.length === 0) return new Map();
  const { rows } = await client.query<{
    account_id: string;
    scope: string;
    scope_id: string;
    amount: string;
  }>({
    name: 'add-totals',
    text: `INSERT INTO spend_total (account_id, scope, scope_id, amount, lapsed)
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::numeric[], $5::numeric[])
      ON CONFLICT (account_id, scope, scope_id) DO UPDATE
        SET amount = spend_total.amount + excluded.amount, lapsed = spend_total.lapsed + excluded.lapsed
      RETURNING account_id, scope, scope_id, amount::text`,
    values: [
      totals.map(({ accountId }) => accountId),
      totals.map(({ scope }) => scope),
      totals.map(({ scopeId }) => scopeId),
      totals.map(({ amount }) => amount.toString()),
      totals.map(({ lapsed }) => lapsed.toString()),
    ],
  });
  const keys = rows.filter(({ scope }) => scope === 'key');
  return new Map(keys.map((row) => [`${row.account_id}\n${row.scope_id}`, Usd.parse(row.amount)]));
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
  'count',
  'request_tags',
  'producer',
  'epoch',
  'seq',
] as const satisfies readonly (keyof RejectionRecord)[];

async function insertRejections(
  client: pg.PoolClient,
  rejections: readonly RejectionRecord[],
): Promise<void> {
  if (rejections.length === 0) return;
  const rows = rejections.map((rejection) =>
    Object.fromEntries(REJECTION_COLUMNS.map((name) => [name, rejection[name] ?? null])),
  );
  await client.query({
    name: 'insert-rejections',
    text: `INSERT INTO rejection (${REJECTION_COLUMNS.join(', ')})
      SELECT ${REJECTION_COLUMNS.join(', ')} FROM jsonb_populate_recordset(null::rejection, $1::jsonb)
      ON CONFLICT (producer, epoch, seq) DO NOTHING`,
    values: [JSON.stringify(rows)],
  });
}

async function raiseWatermarks(client: pg.PoolClient, stamps: readonly Stamp[]): Promise<void> {
  const applied = appliedRanges(stamps);
  if (applied.length === 0) return;
  await client.query({
    name: 'raise-watermarks',
    text: `INSERT INTO producer AS p (producer, epoch, applied)
      SELECT * FROM unnest($1::text[], $2::text[], $3::int8multirange[])
      ON CONFLICT (producer, epoch) DO UPDATE SET applied = p.applied + excluded.applied, updated_at = now()`,
    values: [
      applied.map(({ producer }) => producer),
      applied.map(({ epoch }) => epoch),
      applied.map(({ ranges }) => ranges),
    ],
  });
}

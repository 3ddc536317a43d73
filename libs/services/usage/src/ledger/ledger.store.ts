import { uuidv7, type AppliedRange, type Clock, type Funds, type Random } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import { type AuditRow } from '@gateway/database';
import { accountEventRow } from '@gateway/event-log';
import type pg from 'pg';
import type { Scope } from '../posting/scopes.js';
import { insertOutbox } from '../postgres/outbox-rows.js';
import type { UsageDatabase } from '../postgres/usage-database.js';

export type Credit = Parameters<Funds['credit']>[0];

export interface Credited {
  /** False where this source had credited already. */
  isNew: boolean;
  transferId: string;
  balanceAfter: Usd;
}

/** An account as the ledger has it. */
export interface PostedBalance {
  posted: Usd;
  version: number;
  updatedAt: Date;
}

const PROMO = 'promo';
const RANGES_MAX = 10_000;

/** Accounts, transfers and totals, beside the postings. */
export class LedgerStore {
  constructor(private readonly deps: { database: UsageDatabase; clock: Clock; random: Random }) {}

  /** Moves a credit to a customer's account, once per kind and source; `audit` names who gave it. */
  async credit(credit: Credit, audit: AuditRow | null = null): Promise<Credited> {
    const { clock, random } = this.deps;
    const amount = Usd.parse(credit.amountUsd);
    const at = new Date(clock.now());
    const id = uuidv7(clock, random);
    return this.deps.database.transaction(async (client) => {
      const { rows } = await client.query<{ id: string }>(
        `INSERT INTO transfer (id, kind, source, debit, credit, amount, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (kind, source) DO NOTHING RETURNING id`,
        [id, credit.kind, credit.source, PROMO, credit.accountId, amount.toString(), at],
      );
      if (rows.length === 0) return this.repeated(client, credit);
      const balanceAfter = await move(client, credit, amount, at);
      if (audit !== null) await insertAudit(client, audit);
      const of = { account_id: credit.accountId, org_id: credit.orgId };
      const [amount_usd, balance_after] = [amount.toString(), balanceAfter.toString()];
      const credited = { amount_usd, balance_after, payment_event_id: null, source: credit.kind };
      const movement = { balance_before: balanceAfter.minus(amount).toString(), balance_after };
      await insertOutbox(client, [
        accountEventRow({ ...of, type: 'balance.credited', data: credited }, '/usage', this.deps),
        accountEventRow({ ...of, type: 'balance.movement', data: movement }, '/usage', this.deps),
      ]);
      return { isNew: true, transferId: id, balanceAfter };
    });
  }

  /** null where nothing was posted yet. */
  async balance(accountId: string): Promise<PostedBalance | null> {
    const row = await this.deps.database.prisma.account.findUnique({
      where: { id: accountId },
      select: { posted: true, version: true, updated_at: true },
    });
    return (
      row && {
        posted: Usd.parse(row.posted.toFixed()),
        version: Number(row.version),
        updatedAt: row.updated_at,
      }
    );
  }

  /** Spend per scope in the order asked: lifetime for a key, the last 30 days above. */
  async spent(scopes: readonly Scope[], accountId: string | null): Promise<Usd[]> {
    const { rows } = await this.deps.database.pool.query<{ amount: string }>({
      name: 'spent',
      text: `SELECT (SELECT coalesce(sum(CASE WHEN t.scope = 'key' THEN t.amount ELSE t.amount - t.lapsed END), 0)
          FROM spend_total t WHERE t.scope = s.scope AND t.scope_id = s.scope_id
            AND ($3::text IS NULL OR t.account_id = $3))::text AS amount
        FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS s(scope, scope_id, n) ORDER BY s.n`,
      values: [scopes.map(({ kind }) => kind), scopes.map(({ id }) => id), accountId],
    });
    return rows.map(({ amount }) => Usd.parse(amount));
  }

  /** Highest number below which nothing is missing; 0 = none. */
  async watermark(producer: string, epoch: string): Promise<number> {
    const { rows } = await this.deps.database.pool.query<{ watermark: string }>({
      name: 'watermark',
      text: `SELECT (upper(r) - 1)::text AS watermark FROM producer p, unnest(p.applied) AS r
        WHERE p.producer = $1 AND p.epoch = $2 AND r @> 1::bigint`,
      values: [producer, epoch],
    });
    return rows.length === 0 ? 0 : Number(rows[0].watermark);
  }

  /** Ranges of applied numbers above `above`, ascending. */
  async applied(producer: string, epoch: string, above: number): Promise<AppliedRange[]> {
    const { rows } = await this.deps.database.pool.query<{ first: string; last: string }>({
      name: 'applied',
      text: `SELECT lower(r)::text AS first, (upper(r) - 1)::text AS last FROM producer p, unnest(p.applied) AS r
        WHERE p.producer = $1 AND p.epoch = $2 AND upper(r) - 1 > $3 ORDER BY lower(r) LIMIT $4`,
      values: [producer, epoch, above, RANGES_MAX],
    });
    return rows.map(({ first, last }) => [Number(first), Number(last)] as const);
  }

  /** The account that an org pays from, as far as postings and credits have shown. */
  async accountOfOrg(orgId: string): Promise<string | null> {
    const where = { org_id: orgId, kind: 'customer' };
    const row = await this.deps.database.prisma.account.findFirst({ where, select: { id: true } });
    return row?.id ?? null;
  }

  /** Customers' accounts with a posting since then. */
  async activeSince(since: Date, limit: number): Promise<string[]> {
    const rows = await this.deps.database.prisma.account.findMany({
      where: { updated_at: { gte: since }, kind: 'customer' },
      select: { id: true },
      orderBy: { updated_at: 'desc' },
      take: limit,
    });
    return rows.map(({ id }) => id);
  }

  /** Sequence numbers below the newest applied one of their producer's epoch that were not applied. */
  async missingRecords(): Promise<number> {
    const { rows } = await this.deps.database.pool.query<{ missing: number }>(
      `SELECT coalesce(sum(upper(applied) - 1 - (SELECT sum(upper(r) - lower(r)) FROM unnest(applied) AS r)), 0)::float8
         AS missing
       FROM producer WHERE NOT isempty(applied)`,
    );
    return rows[0].missing;
  }

  private async repeated(client: pg.PoolClient, credit: Credit): Promise<Credited> {
    const { rows } = await client.query<{ id: string; posted: string }>(
      `SELECT t.id, a.posted::text FROM transfer t JOIN account a ON a.id = t.credit
       WHERE t.kind = $1 AND t.source = $2`,
      [credit.kind, credit.source],
    );
    return { isNew: false, transferId: rows[0].id, balanceAfter: Usd.parse(rows[0].posted) };
  }
}

async function insertAudit(client: pg.PoolClient, audit: AuditRow): Promise<void> {
  await client.query(
    'INSERT INTO audit_log SELECT * FROM jsonb_populate_record(null::audit_log, $1::jsonb)',
    [JSON.stringify(audit)],
  );
}

/** Both accounts in id order, as every posting locks them. */
async function move(client: pg.PoolClient, credit: Credit, amount: Usd, at: Date): Promise<Usd> {
  const changes = [
    { id: credit.accountId, kind: 'customer', orgId: credit.orgId, delta: amount },
    { id: PROMO, kind: 'promo', orgId: null, delta: amount.neg() },
  ].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  let after = Usd.zero;
  for (const { id, kind, orgId, delta } of changes) {
    const { rows } = await client.query<{ posted: string }>(
      `INSERT INTO account AS a (id, kind, org_id, posted, version, updated_at) VALUES ($1, $2, $3, $4, 1, $5)
       ON CONFLICT (id) DO UPDATE SET posted = a.posted + excluded.posted, version = a.version + 1,
         org_id = coalesce(a.org_id, excluded.org_id), updated_at = excluded.updated_at
       RETURNING posted::text`,
      [id, kind, orgId, delta.toString(), at],
    );
    if (id === credit.accountId) after = Usd.parse(rows[0].posted);
  }
  return after;
}

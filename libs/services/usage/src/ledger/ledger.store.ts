import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, RANDOM } from '@gateway/platform';
import type { AppliedRange, Clock, Funds, Random } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import { type AuditRow } from '@gateway/database';
import { accountEventRow } from '@gateway/event-log';
import { CarriedScopes } from '../posting/carried-scopes.js';
import { addRowless } from '../posting/rowless-numbers.js';
import { isPeriod, NOT_SUMMED, PERIOD_SPENT, periodColumns } from '../posting/period-scopes.js';
import type { Scope } from '../posting/scopes.js';
import { insertAudit } from '../postgres/audit-rows.js';
import { insertOutbox } from '../postgres/outbox-rows.js';
import { moveMoney, type Moved } from './move-money.js';
import { UsageDatabase } from '../postgres/usage-database.js';

export type Credit = Parameters<Funds['credit']>[0] & { reason?: string };

/** An account as the ledger has it. */
export interface PostedBalance {
  posted: Usd;
  version: number;
  updatedAt: Date;
}

const RANGES_MAX = 10_000;
/** Lookups reach back 90 days: what they may show stays a day longer. */
const REJECTIONS_KEPT_MS = 91 * 86_400_000;
const REMOVED_AT_ONCE = 5_000;
const REMOVED_PARTS_MAX = 200;

/** Accounts, transfers and totals, beside the postings. */
@Injectable()
export class LedgerStore {
  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    private readonly carried: CarriedScopes,
  ) {}

  /** Moves a credit to a customer's account, once per kind and source; `audit` names who gave it. */
  async credit(credit: Credit, audit: AuditRow | null = null): Promise<Moved> {
    const { accountId, orgId, kind, source, amountUsd, reason = null } = credit;
    const amount = Usd.parse(amountUsd);
    const { clock, random } = this;
    return this.database.transaction(async (client) => {
      const move = { kind, source, accountId, orgId, amount, counterparty: 'promo', reason } as const;
      const moved = await moveMoney(client, move, { clock, random });
      if (!moved.isNew) return moved;
      if (audit !== null) await insertAudit(client, audit);
      await insertOutbox(client, [
        accountEventRow(
          {
            account_id: accountId,
            org_id: orgId,
            type: 'balance.credited',
            data: {
              amount_usd: amount.toString(),
              balance_after: moved.balanceAfter.toString(),
              payment_event_id: null,
              source: kind,
            },
          },
          '/usage',
          { clock, random },
        ),
      ]);
      return moved;
    });
  }

  /** null where nothing was posted yet. */
  async balance(accountId: string): Promise<PostedBalance | null> {
    const row = await this.database.prisma.account.findUnique({
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

  /** Spend per scope in the order asked: lifetime for a key, the last 30 days above; of a budget's period what it counts. */
  async spent(scopes: readonly Scope[], accountId: string | null): Promise<Usd[]> {
    if (accountId !== null && scopes.some(({ id }) => isPeriod(id)))
      return this.spentInPeriods(scopes, accountId);
    const { rows } = await this.database.pool.query<{ amount: string }>({
      name: 'spent',
      text: `SELECT (SELECT coalesce(sum(CASE WHEN t.scope = 'key' THEN t.amount ELSE t.amount - t.lapsed END), 0)
          FROM spend_total t WHERE t.scope = s.scope AND t.scope_id = s.scope_id
            AND ($3::text IS NULL OR t.account_id = $3))::text AS amount
        FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS s(scope, scope_id, n) ORDER BY s.n`,
      values: [scopes.map(({ kind }) => kind), scopes.map(({ id }) => id), accountId],
    });
    return rows.map(({ amount }) => Usd.parse(amount));
  }

  private async spentInPeriods(scopes: readonly Scope[], accountId: string): Promise<Usd[]> {
    const { scopeIds, startsAt, hoursFrom, hoursTo, endsAt } = periodColumns(scopes, this.clock.now());
    await this.carried.require(scopes.map((scope) => ({ accountId, ...scope })));
    const { rows } = await this.database.pool.query<{ amount: string | null }>({
      name: 'spent-in-periods',
      text: `SELECT (CASE WHEN w.starts_at IS NOT NULL THEN ${PERIOD_SPENT} ELSE coalesce((
          SELECT CASE WHEN t.scope = 'key' THEN t.amount ELSE t.amount - t.lapsed END FROM spend_total t
          WHERE t.account_id = w.account_id AND t.scope = w.scope AND t.scope_id = w.scope_id), 0) END)::text AS amount
        FROM (SELECT $1::text AS account_id, s.* FROM unnest($2::text[], $3::text[], $4::timestamptz[],
          $5::timestamptz[], $6::timestamptz[], $7::timestamptz[])
          WITH ORDINALITY AS s(scope, scope_id, starts_at, hours_from, hours_to, ends_at, n)) AS w ORDER BY w.n`,
      values: [accountId, scopes.map(({ kind }) => kind), scopeIds, startsAt, hoursFrom, hoursTo, endsAt],
    });
    return rows.map(({ amount }) => {
      if (amount === null) throw new Error(NOT_SUMMED);
      return Usd.parse(amount);
    });
  }

  /** Highest number below which nothing is missing; 0 = none. */
  async watermark(producer: string, epoch: string): Promise<number> {
    const { rows } = await this.database.pool.query<{ watermark: string }>({
      name: 'watermark',
      text: `SELECT (upper(r) - 1)::text AS watermark FROM producer p, unnest(p.applied) AS r
        WHERE p.producer = $1 AND p.epoch = $2 AND r @> 1::bigint`,
      values: [producer, epoch],
    });
    return rows.length === 0 ? 0 : Number(rows[0].watermark);
  }

  /** Ranges of applied numbers above `above`, ascending. */
  async applied(producer: string, epoch: string, above: number): Promise<AppliedRange[]> {
    const { rows } = await this.database.pool.query<{ first: string; last: string }>({
      name: 'applied',
      text: `SELECT lower(r)::text AS first, (upper(r) - 1)::text AS last FROM producer p, unnest(p.applied) AS r
        WHERE p.producer = $1 AND p.epoch = $2 AND upper(r) - 1 > $3 ORDER BY lower(r) LIMIT $4`,
      values: [producer, epoch, above, RANGES_MAX],
    });
    return rows.map(({ first, last }) => [Number(first), Number(last)] as const);
  }

  /** Refusals past their 90 days, a bounded number in one statement; metadata of what ran stays for ever. */
  async removeOldRejections(): Promise<void> {
    const before = new Date(this.clock.now() - REJECTIONS_KEPT_MS);
    for (let part = 0; part < REMOVED_PARTS_MAX; part += 1) {
      const removed = await this.database.transaction(async (client) => {
        const { rows } = await client.query<{ producer: string; epoch: string; seq: string }>(
          `DELETE FROM rejection WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM rejection WHERE created_at < $1 LIMIT ${REMOVED_AT_ONCE}))
           RETURNING producer, epoch, seq::text`,
          [before],
        );
        await addRowless(
          client,
          rows.map(({ producer, epoch, seq }) => ({ producer, epoch, seq: Number(seq) })),
        );
        return rows.length;
      });
      if (removed < REMOVED_AT_ONCE) return;
    }
  }

  /** Accounts of customers and providers with a posting since then. */
  async activeSince(since: Date, limit: number): Promise<string[]> {
    const rows = await this.database.prisma.account.findMany({
      where: { updated_at: { gte: since }, kind: { in: ['customer', 'provider'] } },
      select: { id: true },
      orderBy: { updated_at: 'desc' },
      take: limit,
    });
    return rows.map(({ id }) => id);
  }

  /** Sequence numbers below the newest applied one of their producer's epoch that were not applied. */
  async missingRecords(): Promise<number> {
    const { rows } = await this.database.pool.query<{ missing: number }>(
      `SELECT coalesce(sum(upper(applied) - 1 - (SELECT sum(upper(r) - lower(r)) FROM unnest(applied) AS r)), 0)::float8
         AS missing
       FROM producer WHERE NOT isempty(applied)`,
    );
    return rows[0].missing;
  }
}

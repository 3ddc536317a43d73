import { Inject, Injectable } from '@nestjs/common';
import { CLOCK } from '@gateway/platform';
import {
  ApiError,
  type AutoRechargeBody,
  type AutoRechargeRecord,
  type Clock,
  type LedgerEntry,
  type PaymentRecord,
} from '@gateway/contracts';
import type { AuditRow } from '@gateway/database';
import type { PoolClient } from 'pg';
import { Usd } from '@gateway/money';
import { insertAudit } from '../postgres/audit-rows.js';
import { UsageDatabase } from '../postgres/usage-database.js';

interface Page {
  limit: number;
  offset: number;
}

interface EntryRow {
  id: string;
  kind: string;
  amount: string;
  balance: string;
  reason: string | null;
  source: string;
  created_at: Date;
}

const MONEY_KINDS = new Set(['usage', 'usage_correction', 'admin_grant']);

/** An account's reads and settings of its money. */
@Injectable()
export class BillingStore {
  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Newest first. */
  async payments(
    accountId: string,
    { limit, offset }: Page,
  ): Promise<{ data: PaymentRecord[]; total: number }> {
    const { payment } = this.database.prisma;
    const where = { account_id: accountId };
    const [rows, total] = await Promise.all([
      payment.findMany({
        where,
        orderBy: [{ created_at: 'desc' }, { id: 'desc' }],
        take: limit,
        skip: offset,
      }),
      payment.count({ where }),
    ]);
    const data = rows.map((row): PaymentRecord => ({
      id: row.id,
      kind: row.kind as PaymentRecord['kind'],
      status: row.state as PaymentRecord['status'],
      amount_usd: Usd.parse(row.amount.toFixed()).toString(),
      currency: row.currency,
      provider: row.provider,
      reason: row.reason,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
    }));
    return { data, total };
  }

  /** Newest first, each with the balance that it left: one snapshot of account and transfers. */
  async ledger(accountId: string, { limit, offset }: Page): Promise<{ data: LedgerEntry[]; total: number }> {
    const { pool } = this.database;
    const [{ rows }, counted] = await Promise.all([
      pool.query<EntryRow>(
        `WITH entry AS (
           (SELECT id, kind, source, reason, -amount AS amount, created_at FROM transfer WHERE debit = $1
            ORDER BY created_at DESC, id DESC LIMIT $2)
           UNION ALL
           (SELECT id, kind, source, reason, amount, created_at FROM transfer WHERE credit = $1 AND credit <> 'revenue'
            ORDER BY created_at DESC, id DESC LIMIT $2)
         ), running AS (
           SELECT *, (SELECT posted FROM account WHERE id = $1) - coalesce(sum(amount) OVER (
             ORDER BY created_at DESC, id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS balance FROM entry
         )
         SELECT id, kind, source, reason, amount::text, balance::text, created_at FROM running
         ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4`,
        [accountId, limit + offset, limit, offset],
      ),
      pool.query<{ total: string }>(
        `SELECT (SELECT count(*) FROM transfer WHERE debit = $1)
           + (SELECT count(*) FROM transfer WHERE credit = $1 AND credit <> 'revenue') AS total`,
        [accountId],
      ),
    ]);
    return { data: rows.map(entryOf), total: Number(counted.rows[0].total) };
  }

  async autoRecharge(accountId: string): Promise<AutoRechargeRecord> {
    const row = await this.database.prisma.billing.findUnique({ where: { account_id: accountId } });
    const money = (value: { toFixed(): string } | null | undefined): string | null =>
      value ? Usd.parse(value.toFixed()).toString() : null;
    return {
      enabled: row?.enabled ?? false,
      threshold_usd: money(row?.threshold),
      amount_usd: money(row?.amount),
      monthly_limit_usd: money(row?.monthly_limit),
      has_payment_method: (row?.payment_method ?? null) !== null,
    };
  }

  /**
   * Sets the recharge. Throws ApiError `validation_error` if there is no card to charge. A new setting forgets earlier
   * failures.
   */
  async setAutoRecharge(
    { accountId, orgId }: { accountId: string; orgId: string | null },
    body: AutoRechargeBody,
    audit: AuditRow,
  ): Promise<void> {
    await this.database.transaction(async (client) => {
      if (body.enabled) await requireCard(client, accountId);
      await client.query(
        `INSERT INTO billing (account_id, org_id, enabled, threshold, amount, monthly_limit, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (account_id) DO UPDATE SET org_id = excluded.org_id, enabled = excluded.enabled,
           threshold = excluded.threshold, amount = excluded.amount, monthly_limit = excluded.monthly_limit,
           next_attempt_at = NULL, updated_at = excluded.updated_at`,
        [
          accountId,
          orgId,
          body.enabled,
          body.threshold_usd ?? null,
          body.amount_usd ?? null,
          body.monthly_limit_usd ?? null,
          new Date(this.clock.now()),
        ],
      );
      await insertAudit(client, audit);
    });
  }
}

function entryOf(row: EntryRow): LedgerEntry {
  return {
    id: `txn_${row.id}`,
    kind: row.kind,
    amount_usd: Usd.parse(row.amount).toString(),
    balance_after: Usd.parse(row.balance).toString(),
    reason: row.reason,
    source: MONEY_KINDS.has(row.kind) ? null : row.kind === 'coupon' ? row.source.split('/')[0] : row.source,
    created_at: row.created_at.toISOString(),
  };
}

async function requireCard(client: PoolClient, accountId: string): Promise<void> {
  const saved = await client.query(
    'SELECT 1 FROM billing WHERE account_id = $1 AND payment_method IS NOT NULL FOR UPDATE',
    [accountId],
  );
  if (saved.rows.length > 0) return;
  const msg = 'No card is saved: pay once by POST /v1/billing/checkout, then switch auto-recharge on.';
  throw new ApiError('validation_error', {
    message: `enabled: ${msg}`,
    details: [{ type: 'no_payment_method', loc: ['enabled'], msg }],
  });
}

import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  type Clock,
  type CouponBody,
  type CouponRecord,
  type Random,
  type RedemptionRecord,
  type DetailType,
} from '@gateway/contracts';
import type { AuditRow } from '@gateway/database';
import { accountEventRow } from '@gateway/event-log';
import { Usd } from '@gateway/money';
import { CLOCK, expiryFaults, expiryOf, LoginAttempts, RANDOM } from '@gateway/platform';
import { insertAudit } from '../postgres/audit-rows.js';
import { moveMoney } from '../ledger/move-money.js';
import type { Prisma } from '../generated/prisma/client.js';
import { insertOutbox } from '../postgres/outbox-rows.js';
import { UsageDatabase } from '../postgres/usage-database.js';

interface Payer {
  accountId: string;
  orgId: string | null;
  userId: string;
}

/** Codes that credit an account, and a person, once. */
@Injectable()
export class CouponsStore {
  private readonly attempts: LoginAttempts;

  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    this.attempts = new LoginAttempts(clock);
  }

  /** Throws ApiError `conflict` for a code that exists, `validation_error` for a coupon that nobody could use. */
  async create(
    body: CouponBody & { code: string },
    createdBy: string,
    audit: AuditRow,
  ): Promise<CouponRecord> {
    const { clock, database } = this;
    const amount = Usd.parse(body.amount_usd);
    if (!amount.isPositive()) throw faulty('amount_usd', 'minimum', 'A coupon credits more than 0.');
    const [fault] = expiryFaults(body.expires_at, clock.now());
    if (fault !== undefined) throw faulty('expires_at', fault.type, fault.msg);
    return database.transaction(async (client) => {
      const { rows } = await client.query<CouponRow>(
        `INSERT INTO coupon (code, amount, max_redemptions, expires_at, created_by, created_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (code) DO NOTHING RETURNING *, amount::text AS amount`,
        [
          body.code,
          amount.toString(),
          body.max_redemptions ?? null,
          expiryOf(body.expires_at),
          createdBy,
          new Date(clock.now()),
        ],
      );
      if (rows.length === 0) throw rejection('conflict', 'There is a coupon of this code.');
      await insertAudit(client, audit);
      return recordOf(rows[0]);
    });
  }

  async list({
    limit,
    offset,
  }: {
    limit: number;
    offset: number;
  }): Promise<{ data: CouponRecord[]; total: number }> {
    const { coupon } = this.database.prisma;
    const orderBy: Prisma.CouponOrderByWithRelationInput[] = [{ created_at: 'desc' }, { code: 'asc' }];
    const [rows, total] = await Promise.all([
      coupon.findMany({ orderBy, take: limit, skip: offset }),
      coupon.count(),
    ]);
    return { data: rows.map((row) => recordOf({ ...row, amount: row.amount.toFixed() })), total };
  }

  /**
   * Throws ApiError `not_found` for an unknown code, `rate_limit_exceeded` for a person who guesses. Throws `conflict`
   * for a code that is expired, used up, or used by this account or person.
   */
  async redeem(code: string, payer: Payer, audit: AuditRow): Promise<RedemptionRecord> {
    const { attempts } = this;
    const guesser = `person ${payer.userId}`;
    attempts.take(guesser, 'coupon');
    try {
      const redeemed = await this.credit(code, payer, audit);
      attempts.succeeded(guesser, 'coupon');
      return redeemed;
    } catch (failure) {
      if (failure instanceof ApiError && failure.code === 'not_found') attempts.failed(guesser, 'coupon');
      throw failure;
    }
  }

  private credit(
    code: string,
    { accountId, orgId, userId }: Payer,
    audit: AuditRow,
  ): Promise<RedemptionRecord> {
    const { clock, random } = this;
    const now = new Date(clock.now());
    return this.database.transaction(async (client) => {
      const { rows } = await client.query<CouponRow>(
        'SELECT *, amount::text AS amount FROM coupon WHERE code = $1 FOR UPDATE',
        [code],
      );
      const coupon = rows.at(0);
      if (coupon === undefined) throw rejection('not_found', 'There is no such coupon.');
      if (coupon.expires_at !== null && coupon.expires_at <= now)
        throw rejection('conflict', 'The coupon has expired.');
      if (coupon.max_redemptions !== null && coupon.redemptions >= coupon.max_redemptions)
        throw rejection('conflict', 'The coupon is used up.');
      const { rowCount } = await client.query(
        `INSERT INTO coupon_redemption (code, user_id, account_id, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (code, user_id) DO NOTHING`,
        [code, userId, accountId, now],
      );
      if (rowCount === 0) throw rejection('conflict', 'You have used this coupon; a person may use it once.');
      const amount = Usd.parse(coupon.amount);
      const source = `${code}/${accountId}`;
      const move = {
        kind: 'coupon',
        source,
        accountId,
        orgId,
        amount,
        counterparty: 'promo',
        reason: null,
      } as const;
      const moved = await moveMoney(client, move, { clock, random });
      if (!moved.isNew) throw rejection('conflict', 'The account has used this coupon.');
      await client.query('UPDATE coupon SET redemptions = redemptions + 1 WHERE code = $1', [code]);
      const credited = { amount_usd: amount.toString(), balance_after: moved.balanceAfter.toString() };
      const data = { ...credited, payment_event_id: null, source: 'coupon' } as const;
      const event = { account_id: accountId, org_id: orgId, type: 'balance.credited', data } as const;
      await insertOutbox(client, [accountEventRow(event, '/usage', { clock, random })]);
      await insertAudit(client, audit);
      return { id: `txn_${moved.transferId}`, ...credited };
    });
  }
}

/** Letters of a code, without those that look alike. */
const CODE_LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const CODE_GROUPS = 5;

/** A code of 100 random bits, which nobody guesses. */
export function newCouponCode(random: Random): string {
  const letters = [...random.bytes(4 * CODE_GROUPS)].map((byte) => CODE_LETTERS[byte % CODE_LETTERS.length]);
  const groups = Array.from({ length: CODE_GROUPS }, (_, n) => letters.slice(4 * n, 4 * n + 4).join(''));
  return groups.join('-');
}

interface CouponRow {
  code: string;
  amount: string;
  max_redemptions: number | null;
  redemptions: number;
  expires_at: Date | null;
  created_at: Date;
}

function recordOf(row: CouponRow): CouponRecord {
  const { code, max_redemptions, redemptions, expires_at, created_at } = row;
  return {
    code,
    amount_usd: Usd.parse(row.amount).toString(),
    max_redemptions,
    redemptions,
    expires_at: expires_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  };
}

function rejection(code: 'conflict' | 'not_found', message: string): ApiError {
  return new ApiError(code, { message });
}

function faulty(field: keyof CouponBody, type: DetailType, msg: string): ApiError {
  return new ApiError('validation_error', { message: msg, details: [{ type, loc: [field], msg }] });
}

import { Type } from 'class-transformer';
import {
  IsBoolean,
  IsInt,
  IsISO8601,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateIf,
} from 'class-validator';
import type { Money } from '../catalogue/price-record.js';
import { AMOUNT_PATTERN } from './keys.js';

/** Ways of a deployment to bill: from a balance that is filled before, or not at all. */
export const BILLING_MODES = ['prepaid', 'off'] as const;
export type BillingMode = (typeof BILLING_MODES)[number];

/** Amounts that a card can be charged: 1 to 999,999.99 in whole cents. */
const CHARGE_PATTERN = /^[1-9]\d{0,5}(\.\d{1,2})?$/;
const CODE_PATTERN = /^[A-Za-z0-9][A-Za-z0-9_-]{3,63}$/;

/** Query of billing reads. The account that is meant: an organization's, or without one the person's own. */
export class BillingQuery {
  @IsOptional() @IsString() @Length(1, 128) org_id?: string;
}

/** POST /v1/billing/checkout. */
export class CheckoutBody extends BillingQuery {
  @Matches(CHARGE_PATTERN) amount_usd!: Money;
}

export interface CheckoutRecord {
  /** The payment provider's page. */
  checkout_url: string;
  payment_id: string;
}

/** Query of GET /v1/billing/payments, /v1/billing/ledger and /v1/admin/coupons. */
export class BillingPageQuery extends BillingQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(10_000) offset: number = 0;
}

export interface PaymentRecord {
  id: string;
  kind: 'card_top_up' | 'auto_recharge';
  status: 'pending' | 'succeeded' | 'failed' | 'expired';
  amount_usd: Money;
  currency: string;
  provider: string;
  /** Code of the last failure. */
  reason: string | null;
  created_at: string;
  updated_at: string;
}

export interface LedgerEntry {
  id: string;
  kind: string;
  /** Amount of the credit; below 0 where it was taken from the balance. */
  amount_usd: Money;
  balance_after: Money;
  /** Reason that was given for a credit. */
  reason: string | null;
  /** Payment, refund, dispute or coupon that it comes from; null for usage. */
  source: string | null;
  created_at: string;
}

/** Query of GET /v1/billing/statement. */
export class StatementQuery extends BillingQuery {
  /** Month of UTC, such as 2026-11. */
  @Matches(/^20\d{2}-(0[1-9]|1[0-2])$/) month!: string;
}

/** A sum of movements of one kind. */
export interface StatementCredit {
  kind: string;
  /** Amount that was added; below 0 where it was taken from the balance. */
  amount_usd: Money;
  entries: number;
}

export interface StatementUsage {
  /** Null = of no team. */
  team_id: string | null;
  /** Null where the team has no name any more. */
  team_name: string | null;
  /** Null = all that has no row of its own. */
  model: string | null;
  requests: number;
  amount_usd: Money;
}

export interface StatementDay {
  /** Such as 2026-11-27, of UTC. */
  day: string;
  requests: number;
  usage_usd: Money;
  credits_usd: Money;
}

/**
 * Month of an account: `opening_usd` + `credits_usd` - `usage_usd` = `closing_usd`, to the last digit. Usage belongs to
 * the month in which its request came in.
 */
export interface StatementRecord {
  month: string;
  since: string;
  until: string;
  /** True once the month is over. */
  is_over: boolean;
  opening_usd: Money;
  credits_usd: Money;
  usage_usd: Money;
  closing_usd: Money;
  credits: StatementCredit[];
  /** The largest first. */
  usage: StatementUsage[];
  /** Days with a movement, in their order. */
  days: StatementDay[];
  as_of: string;
}

/** PUT /v1/billing/auto-recharge. */
export class AutoRechargeBody extends BillingQuery {
  @IsBoolean() enabled!: boolean;
  /** A balance below it is recharged. */
  @ValidateIf(isNeeded) @Matches(AMOUNT_PATTERN) threshold_usd?: Money | null;
  @ValidateIf(isNeeded) @Matches(CHARGE_PATTERN) amount_usd?: Money | null;
  /** Largest sum of the recharges of one UTC month; null = no bound. */
  @IsOptional() @Matches(AMOUNT_PATTERN) monthly_limit_usd?: Money | null;
}

function isNeeded(body: AutoRechargeBody, value: unknown): boolean {
  return body.enabled || (value !== undefined && value !== null);
}

export interface AutoRechargeRecord {
  enabled: boolean;
  threshold_usd: Money | null;
  amount_usd: Money | null;
  monthly_limit_usd: Money | null;
  /** A card was saved by a checkout: without one a recharge fails. */
  has_payment_method: boolean;
}

/** POST /v1/billing/coupons/redeem. */
export class RedeemCouponBody extends BillingQuery {
  @Matches(CODE_PATTERN) code!: string;
}

export interface RedemptionRecord {
  id: string;
  amount_usd: Money;
  balance_after: Money;
}

/** POST /v1/admin/coupons. */
export class CouponBody {
  /** Absent: a random one is made. */
  @IsOptional() @Matches(CODE_PATTERN) code?: string;
  @Matches(AMOUNT_PATTERN) amount_usd!: Money;
  /** null = without a bound. */
  @IsOptional() @IsInt() @Min(1) @Max(1_000_000_000) max_redemptions?: number | null;
  @IsOptional() @IsISO8601({ strict: true }) expires_at?: string | null;
}

export interface CouponRecord {
  code: string;
  amount_usd: Money;
  max_redemptions: number | null;
  redemptions: number;
  expires_at: string | null;
  created_at: string;
}

import { IsIn, IsOptional, IsString, Matches } from 'class-validator';
import { MONEY_PATTERN } from '../money-pattern.js';

const CREDIT_SOURCES = ['payment', 'auto_recharge', 'admin_grant', 'coupon'] as const;

/** The balance crosses below the floor that a policy sets. */
export class BalanceLow {
  @Matches(MONEY_PATTERN) balance_usd!: string;
}

/** A payment or a manual credit lands. */
export class BalanceCredited {
  @Matches(MONEY_PATTERN) amount_usd!: string;
  @Matches(MONEY_PATTERN) balance_after!: string;
  /** null where no payment is behind it. */
  @IsOptional() @IsString() payment_event_id!: string | null;
  @IsIn(CREDIT_SOURCES) source!: (typeof CREDIT_SOURCES)[number];
}

/** The balance crosses zero: once per crossing, not per request. */
export class BalanceDepleted {
  @Matches(MONEY_PATTERN) balance_usd!: string;
  @Matches(MONEY_PATTERN) balance_before!: string;
}

import { IsIn, IsOptional, IsString, Matches } from 'class-validator';
import { MONEY_PATTERN } from '../money-pattern.js';

/** A payment is captured and credited; a coupon that covers all of it does not fire it. */
export class PaymentSucceeded {
  @IsString() payment_event_id!: string;
  @IsString() payment_id!: string;
  @IsString() provider!: string;
  /** ISO 4217, upper case. */
  @Matches(/^[A-Z]{3}$/) currency!: string;
  @Matches(MONEY_PATTERN) amount_usd!: string;
}

const FAILED_SOURCES = ['card_top_up', 'auto_recharge'] as const;

/** A top-up by card or the charge of an auto-recharge fails; the balance is unchanged. */
export class PaymentFailed {
  /** null where the provider had made none yet. */
  @IsOptional() @IsString() payment_id!: string | null;
  @IsString() provider!: string;
  @Matches(/^[A-Z]{3}$/) currency!: string;
  @Matches(MONEY_PATTERN) amount_usd!: string;
  /** Code of the payment provider, scrubbed. */
  @IsString() reason!: string;
  @IsIn(FAILED_SOURCES) source!: (typeof FAILED_SOURCES)[number];
}

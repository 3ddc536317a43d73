import { IsBoolean, IsString, Matches } from 'class-validator';
import { MONEY_PATTERN } from '../money-pattern.js';

/** An auto-recharge is scheduled; no money has moved. */
export class AutoRechargeTriggered {
  @Matches(MONEY_PATTERN) amount_usd!: string;
  @IsString() scheduled_payment_id!: string;
}

/** The charge clears and the credit lands. */
export class AutoRechargeSucceeded {
  @IsString() payment_event_id!: string;
  @IsString() payment_id!: string;
  @Matches(MONEY_PATTERN) amount_usd!: string;
  @Matches(MONEY_PATTERN) current_balance_usd!: string;
  /** The charge followed at least one that failed. */
  @IsBoolean() recovered!: boolean;
}

/** An attempt fails. */
export class AutoRechargeFailed {
  @IsString() reason!: string;
  @Matches(MONEY_PATTERN) amount_usd!: string;
}

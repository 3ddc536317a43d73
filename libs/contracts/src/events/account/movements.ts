import { IsString, Matches } from 'class-validator';
import { MONEY_PATTERN } from '../money-pattern.js';

/**
 * One change of a balance by a posting or a credit: the movements of one account are a chain without gaps. Never
 * delivered.
 */
export class BalanceMovement {
  @Matches(MONEY_PATTERN) balance_before!: string;
  @Matches(MONEY_PATTERN) balance_after!: string;
}

/** Lifetime spend of a capped key before and after a posting. Never delivered. */
export class SpendMovement {
  @IsString() key_id!: string;
  @Matches(MONEY_PATTERN) spent_before!: string;
  @Matches(MONEY_PATTERN) spent_after!: string;
  @Matches(MONEY_PATTERN) cap_usd!: string;
}

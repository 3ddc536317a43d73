import { IsIn, IsInt, IsOptional, IsString, Matches } from 'class-validator';
import type { SpendScope } from '../../ports/principal.js';
import { MONEY_PATTERN } from '../money-pattern.js';
import { LIMIT_SCOPES } from './limit-scope.js';

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

/** Spend of a budget's period after a posting that left it at one of its thresholds or above. Never delivered. */
export class BudgetMovement {
  @IsString() budget_id!: string;
  @IsString() name!: string;
  @IsIn(LIMIT_SCOPES) scope!: SpendScope;
  @IsString() scope_id!: string;
  /** Thresholds that are reached. */
  @IsInt({ each: true }) thresholds_pct!: number[];
  @Matches(MONEY_PATTERN) spent_usd!: string;
  /** The amount with its raise. */
  @Matches(MONEY_PATTERN) amount_usd!: string;
  /** ISO 8601 UTC. */
  @IsString() period_start!: string;
  /** null of a rolling budget. */
  @IsOptional() @IsString() period_end!: string | null;
}

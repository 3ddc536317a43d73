import { IsInt, IsOptional, IsString, Matches } from 'class-validator';
import { MONEY_PATTERN } from '../money-pattern.js';
import { LimitScope } from './limit-scope.js';

class SpendCapFields extends LimitScope {
  @Matches(MONEY_PATTERN) spent_usd!: string;
  @Matches(MONEY_PATTERN) cap_usd!: string;
}

/** A key's spend crosses a percentage of its cap. The values are those crossed, not the policy's. */
export class SpendCapApproaching extends SpendCapFields {
  /** The budget of the key whose amount it is; null for a cap. */
  @IsOptional() @IsString() budget_id?: string | null;
}

/** A request is refused because a cap or a budget was reached, at any scope. */
export class SpendCapHit extends SpendCapFields {
  /** Null for a cap. */
  @IsOptional() @IsString() budget_id?: string | null;
}

/** Spend of a budget reaches a percentage of its amount, for the first time in a period. */
export class BudgetThreshold extends LimitScope {
  @IsString() budget_id!: string;
  @IsString() name!: string;
  @IsInt() threshold_pct!: number;
  /** Posted spend of the period. */
  @Matches(MONEY_PATTERN) spent_usd!: string;
  /** The amount with its raise. */
  @Matches(MONEY_PATTERN) amount_usd!: string;
  /** ISO 8601 UTC: first instant of the period, and the first after it; null of a rolling budget. */
  @IsString() period_start!: string;
  @IsOptional() @IsString() period_end!: string | null;
}

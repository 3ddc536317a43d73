import { IsInt, IsObject, IsOptional, IsString, Length, Max, Min } from 'class-validator';
import type { ErrorCode } from '../errors/error-table.js';
import type { LimitMetric } from '../ports/limit-store.js';
import type { SpendScope } from '../ports/principal.js';

const TOKENS_MAX = 100_000_000;

/** Body of POST /v1/limits/simulate: a text request that a key might send. */
export class SimulateLimitsBody {
  @IsString() @Length(1, 80) key_id!: string;
  @IsString() @Length(1, 224) model!: string;
  /** Tokens of the input. */
  @IsInt() @Min(0) @Max(TOKENS_MAX) prompt_tokens!: number;
  /** Bound on the output, as the request would set it. */
  @IsInt() @Min(0) @Max(TOKENS_MAX) max_tokens!: number;
  /** Tags that the request would carry, at most 16, over the key's own: budgets of tags count by them. */
  @IsOptional() @IsObject() request_tags?: Record<string, unknown> | null;
  /** End user that the request would name: their budgets count it. */
  @IsOptional() @IsString() @Length(1, 512) end_user_id?: string | null;
}

/** One limit that an admission looks at. */
export interface LimitCheck {
  /** `account` for the balance. */
  scope: SpendScope | 'account';
  scope_id: string;
  /** Team of the scope team_member alone. */
  team_id: string | null;
  /** Name of a counter beside the scope's own: `free`, or `m:<model or brand/*>` of model_limits. */
  counter: string | null;
  /** `budget`: the counter is then the id of the budget. */
  metric: LimitMetric | 'budget';
  /** Use without this request: a count, or decimal text of USD with what is in flight at its worst case. */
  current: number | string;
  limit: number | string;
  refuses: boolean;
}

/** Answer of POST /v1/limits/simulate. Nothing was counted. */
export interface LimitSimulation {
  admitted: boolean;
  /** The error that the request would get; null where it is let in. */
  code: ErrorCode | null;
  /** Every limit that is set, in the order of checking; empty where the request is refused before limits. */
  checks: LimitCheck[];
  /** List price of the input with max_tokens of output on the first route of the plan; null where there is none. */
  price_usd: string | null;
  /** Amount to reserve: the likely cost, or the worst case where a cap or the balance cannot cover it. */
  reserve_usd: string | null;
}

import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateIf,
} from 'class-validator';
import type { Money } from '../catalogue/price-record.js';
import type { BudgetGrant } from '../ports/principal.js';
import { AMOUNT_PATTERN, ID_PATTERN } from './keys.js';
import { IsName, IsOneLine } from './one-line.js';

/** Query of GET /v1/orgs/{id}/budgets. */
export class BudgetsQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(10_000) offset: number = 0;
}

/** A spend cap and what is used of it. */
export interface BudgetRecord {
  scope: 'org' | 'team' | 'member' | 'team_member' | 'key';
  /** Id of the organization, team, person or key. */
  id: string;
  /** Team of a `team_member`; null for other scopes. */
  team_id: string | null;
  /** Name in words; of a `team_member` that of the person and the team. Null for a key without a label. */
  name: string | null;
  spend_cap_usd: Money;
  /** Spend since the key was made; of other scopes that of the last 30 days. */
  spent_usd: Money;
  /** Part of the cap that is spent, 1 = all of it. A share is no money. */
  used: number;
}

/** Caps of an organization, that nearest to its end first. */
export interface BudgetsRecord {
  data: BudgetRecord[];
  /** Number of caps. */
  total: number;
  limit: number;
  offset: number;
  /** True where the organization has more caps than are compared: those of the keys used last are. */
  is_partial: boolean;
}

const SCOPES = [
  'key',
  'member',
  'team',
  'org',
  'tag',
  'end_user',
] as const satisfies readonly BudgetGrant['scope'][];
const PERIODS = [
  'day',
  'week',
  'month',
  'quarter',
  'rolling',
] as const satisfies readonly BudgetGrant['period'][];
const PROVIDER_SLUG = /^[a-z0-9][a-z0-9-]{0,63}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

/** Members of every new budget. */
class NewBudget {
  /** One line; errors that it causes hold it. */
  @IsString() @Length(1, 100) @IsName() name!: string;
  /** Spend of one period that is not passed by more than one request; decimal text of USD above 0. */
  @Matches(AMOUNT_PATTERN, { message: 'amount_usd must be a decimal string of USD' })
  amount_usd!: string;
  /** Calendar period, from local midnight to local midnight; a week begins on Monday. Or the last days, `rolling`. */
  @IsIn(PERIODS) period!: (typeof PERIODS)[number];
  /** IANA name of the zone of the calendar. A rolling budget has none. */
  @IsOptional() @IsString() @Length(1, 64) time_zone: string = 'UTC';
  /** Number of times 24 hours that a rolling budget counts, 1 to 366; for no other period. */
  @IsOptional() @IsInt() @Min(1) @Max(366) rolling_days?: number | null;
  /** One that is not hard refuses nothing. */
  @IsOptional() @IsBoolean() is_hard: boolean = true;
  /** Percentages of the amount, at most 5 of 1 to 100. Each is told once a period as `budget.threshold`. */
  @IsOptional()
  @IsArray()
  @ArrayUnique()
  @ArrayMaxSize(5)
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(100, { each: true })
  thresholds_pct: number[] = [];
  /** A disabled budget refuses nothing. */
  @IsOptional() @IsBoolean() is_enabled: boolean = true;
}

/** Body of POST /v1/budgets. */
export class CreateBudgetBody extends NewBudget {
  /** Cannot change later. */
  @Matches(ID_PATTERN) org_id!: string;
  /** Level whose spend counts. Cannot change later. */
  @IsIn(SCOPES) scope!: (typeof SCOPES)[number];
  /**
   * Id of a key, a person, a team, or of the organization itself; of a tag `name=value`; of an end user their id as requests have it,
   * which is kept as its HMAC alone. Cannot change later.
   */
  @IsString() @Length(1, 512) @IsOneLine() scope_id!: string;
}

/** Body of POST /v1/admin/budgets. */
export class CreateProviderBudgetBody extends NewBudget {
  @IsIn(['provider']) scope!: 'provider';
  /** Slug of the provider. Cannot change later. */
  @Matches(PROVIDER_SLUG) scope_id!: string;
}

/** Body of PATCH /v1/budgets/{id}: what is absent stays as it is. */
export class UpdateBudgetBody {
  @ValidateIf(isSent('name')) @IsString() @Length(1, 100) @IsName() name?: string;
  /** Spend of one period that is not passed by more than one request; decimal text of USD above 0. */
  @ValidateIf(isSent('amount_usd'))
  @Matches(AMOUNT_PATTERN, { message: 'amount_usd must be a decimal string of USD' })
  amount_usd?: string;
  /** Calendar period, or `rolling`. Spend that lies in the new one counts at once. */
  @ValidateIf(isSent('period')) @IsIn(PERIODS) period?: (typeof PERIODS)[number];
  /** IANA name of the zone of the calendar. */
  @ValidateIf(isSent('time_zone')) @IsString() @Length(1, 64) time_zone?: string;
  /** Number of times 24 hours that a rolling budget counts. */
  @ValidateIf(isSent('rolling_days')) @IsInt() @Min(1) @Max(366) rolling_days?: number;
  /** One that is not hard refuses nothing. */
  @ValidateIf(isSent('is_hard')) @IsBoolean() is_hard?: boolean;
  /** Percentages of the amount, at most 5 of 1 to 100. Each is told once a period as `budget.threshold`. */
  @ValidateIf(isSent('thresholds_pct'))
  @IsArray()
  @ArrayUnique()
  @ArrayMaxSize(5)
  @IsInt({ each: true })
  @Min(1, { each: true })
  @Max(100, { each: true })
  thresholds_pct?: number[];
  /** A disabled budget refuses nothing. */
  @ValidateIf(isSent('is_enabled')) @IsBoolean() is_enabled?: boolean;
}

function isSent(name: keyof UpdateBudgetBody): (body: UpdateBudgetBody) => boolean {
  return (body) => body[name] !== undefined;
}

/** Body of POST /v1/budgets/{id}/raise. */
export class RaiseBudgetBody {
  /** Added to the amount; decimal text of USD above 0. */
  @Matches(AMOUNT_PATTERN, { message: 'by_usd must be a decimal string of USD' })
  by_usd!: string;
  /** ISO 8601 with an offset, at most 366 days ahead. */
  @Matches(TIME, { message: 'until must be a time such as 2026-11-30T18:00:00Z' })
  until!: string;
}

/** Query of GET /v1/budgets. */
export class ListBudgetsQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
  /** Number of rows to skip. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(10_000) offset: number = 0;
  /** Budgets of one organization; absent = of all that the caller is in. */
  @IsOptional() @IsString() @Length(1, 80) org_id?: string;
  /** Budgets of one level. */
  @IsOptional() @IsIn(SCOPES) scope?: (typeof SCOPES)[number];
  /** Budgets of one key, person, team, organization or tag, or of one end user by the HMAC. */
  @IsOptional() @IsString() @Length(1, 512) scope_id?: string;
}

/** Query of GET /v1/admin/budgets. */
export class ListProviderBudgetsQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
  /** Number of rows to skip. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(10_000) offset: number = 0;
  @IsOptional() @IsIn(['provider']) scope?: 'provider';
  /** Budgets of one provider, by its slug. */
  @IsOptional() @IsString() @Length(1, 64) scope_id?: string;
}

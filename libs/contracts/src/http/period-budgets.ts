import { Type } from 'class-transformer';
import {
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
import { IsName } from './one-line.js';

const SCOPES = ['key', 'member', 'team', 'org'] as const satisfies readonly BudgetGrant['scope'][];
const PERIODS = ['day', 'week', 'month', 'quarter'] as const satisfies readonly BudgetGrant['period'][];
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

/** Body of POST /v1/budgets. */
export class CreateBudgetBody {
  /** Cannot change later. */
  @Matches(ID_PATTERN) org_id!: string;
  /** Level whose spend counts. Cannot change later. */
  @IsIn(SCOPES) scope!: (typeof SCOPES)[number];
  /** Id of a key, a person, a team, or of the organization itself. Cannot change later. */
  @Matches(ID_PATTERN) scope_id!: string;
  /** One line; errors that it causes hold it. */
  @IsString() @Length(1, 100) @IsName() name!: string;
  /** Spend of one period that is not passed by more than one request; decimal text of USD above 0. */
  @Matches(AMOUNT_PATTERN, { message: 'amount_usd must be a decimal string of USD' })
  amount_usd!: string;
  /** Calendar period, from local midnight to local midnight. A week begins on Monday. */
  @IsIn(PERIODS) period!: (typeof PERIODS)[number];
  /** IANA name of the zone of the calendar. */
  @IsOptional() @IsString() @Length(1, 64) time_zone: string = 'UTC';
  /** A disabled budget refuses nothing. */
  @IsOptional() @IsBoolean() is_enabled: boolean = true;
}

/** Body of PATCH /v1/budgets/{id}: what is absent stays as it is. */
export class UpdateBudgetBody {
  @ValidateIf(isSent('name')) @IsString() @Length(1, 100) @IsName() name?: string;
  /** Spend of one period that is not passed by more than one request; decimal text of USD above 0. */
  @ValidateIf(isSent('amount_usd'))
  @Matches(AMOUNT_PATTERN, { message: 'amount_usd must be a decimal string of USD' })
  amount_usd?: string;
  /** Calendar period. Spend that lies in the new one counts at once. */
  @ValidateIf(isSent('period')) @IsIn(PERIODS) period?: (typeof PERIODS)[number];
  /** IANA name of the zone of the calendar. */
  @ValidateIf(isSent('time_zone')) @IsString() @Length(1, 64) time_zone?: string;
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
  /** Budgets of one key, person, team or organization. */
  @IsOptional() @IsString() @Length(1, 80) scope_id?: string;
}

/** A budget, and what is used of it in the period that runs. */
export interface PeriodBudgetRecord {
  /** `bud_<uuidv7>`. */
  id: string;
  org_id: string;
  scope: (typeof SCOPES)[number];
  scope_id: string;
  name: string;
  amount_usd: Money;
  period: (typeof PERIODS)[number];
  time_zone: string;
  /** Added to the amount until then; null where nothing is, or its time has passed. */
  raise: { by_usd: Money; until: string } | null;
  /** The amount with its raise. */
  effective_amount_usd: Money;
  /** Posted spend of the requests that came in the period; null where the ledger cannot be asked. */
  spent_usd: Money | null;
  /** Reserved and unposted spend of the period; null where the store that counts cannot be asked. */
  held_usd: Money | null;
  /** First instant of the period that runs, and the first after it. */
  period_start: string;
  period_end: string;
  is_enabled: boolean;
  created_at: string;
  updated_at: string;
}

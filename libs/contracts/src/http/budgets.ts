import { Type } from 'class-transformer';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import type { Money } from '../catalogue/price-record.js';

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

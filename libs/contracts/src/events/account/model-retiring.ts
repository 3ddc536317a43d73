import { IsIn, IsInt, IsNumber, IsOptional, IsString, Matches } from 'class-validator';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Days ahead at which an organization is told, each once. */
export const RETIREMENT_MARKS = [1, 7, 30] as const;
export type RetirementMark = (typeof RETIREMENT_MARKS)[number];

/** A model that the organization has used in the last 30 days is soon served by no provider any more. */
export class ModelRetiring {
  @IsString() model!: string;
  /** First day on which no provider serves it, YYYY-MM-DD of UTC. */
  @Matches(DAY) retires_at!: string;
  /** The mark that was reached: at most so many days are left. */
  @IsIn(RETIREMENT_MARKS) days_left!: RetirementMark;
  /** Id of the model that its maker names in its place; null where none is known. */
  @IsOptional() @IsString() successor!: string | null;
  /** Requests that it served for the organization in the last 30 days. */
  @IsInt() requests_30d!: number;
  /** ISO 8601 UTC. */
  @IsString() last_used_at!: string;
  /** Change of the input rate from the model to its successor in per cent; null where one of them is not known. */
  @IsOptional() @IsNumber() prompt_change_pct!: number | null;
  /** The same of the output rate. */
  @IsOptional() @IsNumber() completion_change_pct!: number | null;
}

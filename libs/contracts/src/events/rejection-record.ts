import { IsInt, IsObject, IsOptional, IsString, Min } from 'class-validator';

/** One request refused before any model was called: the record of gateway.rejections.v1. */
export class RejectionRecord {
  @IsString() request_id!: string;
  /** ISO 8601 UTC. */
  @IsString() created_at!: string;
  @IsString() account_id!: string;
  @IsOptional() @IsString() org_id!: string | null;
  @IsOptional() @IsString() team_id!: string | null;
  @IsString() member_id!: string;
  @IsString() key_id!: string;
  @IsString() endpoint!: string;
  /** Catalogue id where it was known. */
  @IsOptional() @IsString() model!: string | null;
  @IsOptional() @IsString() requested_model!: string | null;
  @IsInt() http_status!: number;
  @IsString() code!: string;
  @IsString() message!: string;
  /** Scope that refused; null where no limit did. */
  @IsOptional() @IsString() scope!: string | null;
  @IsOptional() @IsString() scope_id!: string | null;
  /** rpm, rpd, tpm, spend_cap or balance. */
  @IsOptional() @IsString() limit_type!: string | null;
  @IsOptional() @IsString() cap_usd!: string | null;
  @IsOptional() @IsString() spent_usd!: string | null;
  /** How many refusals this record stands for: above 10 a second per key and code they are added up. */
  @IsInt() @Min(1) count!: number;
  @IsObject() request_tags!: Record<string, string>;
  @IsString() producer!: string;
  @IsString() epoch!: string;
  /** Counts the records of its epoch on this topic and on gateway.usage.v1 together, from 1 without a hole. */
  @IsInt() @Min(1) seq!: number;
}

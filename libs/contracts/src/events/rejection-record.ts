import { Type } from 'class-transformer';
import { IsBoolean, IsInt, IsObject, IsOptional, IsString, Min, ValidateNested } from 'class-validator';

/** Money behind a rejection. Decimal strings of USD. */
export class RefusedMoneyRecord {
  /** The cap and what was spent of it; null for a balance. */
  @IsOptional() @IsString() limit_usd!: string | null;
  @IsOptional() @IsString() spent_usd!: string | null;
  /** Amount left without what was in flight; below 0 where a request crossed the limit. */
  @IsString() available_usd!: string;
  /** The most that what was in flight may have cost. */
  @IsString() held_usd!: string;
  /** True if spent money alone refused it; else a later request may pass, once what was in flight has ended. */
  @IsBoolean() is_final!: boolean;
}

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
  /** Set where a rejection is for money; absent in records of earlier releases. */
  @IsOptional() @ValidateNested() @Type(() => RefusedMoneyRecord) money?: RefusedMoneyRecord | null;
  /** The budget that refused; null or absent where none did. */
  @IsOptional() @IsString() budget_id?: string | null;
  /** These two of a cap that is reached alone: spend_cap.hit is made of them. */
  @IsOptional() @IsString() cap_usd!: string | null;
  @IsOptional() @IsString() spent_usd!: string | null;
  /** Number of rejections that this record stands for: above 10 a second per key and code they are added up. */
  @IsInt() @Min(1) count!: number;
  @IsObject() request_tags!: Record<string, string>;
  @IsString() producer!: string;
  @IsString() epoch!: string;
  /** Counts the records of its epoch on this topic, gateway.usage.v1 and gateway.usage.v2 together, from 1 without a hole. */
  @IsInt() @Min(1) seq!: number;
}

import { Type } from 'class-transformer';
import { IsDate, IsInt, IsObject, IsString, Length, Max, Min, ValidateNested } from 'class-validator';
import type { IdempotencyClaim, StoredAnswer } from '../ports/idempotency-store.js';

/** POST /internal/idempotency/renew, …/release. */
export class IdempotencyClaimBody implements IdempotencyClaim {
  @IsString() @Length(1, 512) scope!: string;
  @IsString() @Length(1, 255) key!: string;
  @IsString() @Length(1, 128) bodyDigest!: string;
  @IsString() @Length(1, 128) owner!: string;
  @Type(() => Date) @IsDate() createdAt!: Date;
}

/** POST /internal/idempotency/claim. */
export class ClaimIdempotencyBody {
  @IsObject() @ValidateNested() @Type(() => IdempotencyClaimBody) claim!: IdempotencyClaimBody;
  @Type(() => Date) @IsDate() replace_before!: Date;
  @Type(() => Date) @IsDate() abandoned_before!: Date;
}

class StoredAnswerBody implements StoredAnswer {
  @IsInt() @Min(200) @Max(299) status!: number;
  @IsObject() body!: Record<string, unknown>;
}

/** POST /internal/idempotency/complete. */
export class CompleteIdempotencyBody {
  @IsObject() @ValidateNested() @Type(() => IdempotencyClaimBody) claim!: IdempotencyClaimBody;
  @IsObject() @ValidateNested() @Type(() => StoredAnswerBody) answer!: StoredAnswerBody;
}

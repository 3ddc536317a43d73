import { IsISO8601, IsString, Length } from 'class-validator';

/** POST /v1/end-users/erasures. */
export class ErasureBody {
  /** The end user as requests name them: `safety_identifier` or `user`. */
  @IsString() @Length(1, 512) end_user_id!: string;
}

/** The result of an erasure; the receipt names no end user. */
export interface ErasureRecord {
  /** `era_<uuidv7>`. */
  id: string;
  status: 'running' | 'completed';
  /** Usage records that the identifier was cleared from so far; their counts and costs stay. */
  records_updated: number;
  created_at: string;
  completed_at: string | null;
}

/** Query of GET /internal/erasures. */
export class ErasedSinceQuery {
  @IsISO8601({ strict: true }) since!: string;
}

/** Body of POST /internal/directory/forget. */
export class ForgetBody {
  @IsString() @Length(1, 128) account_id!: string;
  @IsString() @Length(1, 100) end_user_hash!: string;
}

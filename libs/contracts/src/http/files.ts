import { Type } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';

/** Purposes for which a caller may upload a file. */
export const UPLOAD_PURPOSES = ['batch', 'user_data', 'vision', 'assistants', 'fine-tune', 'evals'] as const;
/** Purposes of uploads, and of the output of a batch. */
const FILE_PURPOSES = [...UPLOAD_PURPOSES, 'batch_output'] as const;

/** Query of GET /v1/files. */
export class FilesQuery {
  @IsOptional() @IsIn(FILE_PURPOSES) purpose?: (typeof FILE_PURPOSES)[number];
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(10_000) limit: number = 10_000;
  @IsOptional() @IsIn(['asc', 'desc']) order: 'asc' | 'desc' = 'desc';
  @IsOptional() @IsString() @Length(1, 128) after?: string;
}

/** The paths of lines that a batch may ask for. */
const BATCH_ENDPOINTS = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/messages',
  '/v1/embeddings',
  '/v1/moderations',
  '/v1/images/generations',
] as const;

class OutputExpiry {
  @IsIn(['created_at']) anchor!: 'created_at';
  @IsInt() @Min(3_600) @Max(2_592_000) seconds!: number;
}

/** POST /v1/batches. */
export class CreateBatchBody {
  @Matches(/^file-[\w-]{1,100}$/) input_file_id!: string;
  @IsIn(BATCH_ENDPOINTS) endpoint!: (typeof BATCH_ENDPOINTS)[number];
  @IsIn(['24h']) completion_window!: '24h';
  @IsOptional() @IsObject() metadata?: Record<string, unknown> | null;
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => OutputExpiry)
  output_expires_after?: OutputExpiry | null;
}

/** Query of GET /v1/batches. */
export class BatchesQuery {
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(100) limit: number = 20;
  @IsOptional() @IsString() @Length(1, 128) after?: string;
}

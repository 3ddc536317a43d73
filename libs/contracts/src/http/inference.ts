import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
} from 'class-validator';
import type {
  GivenAnswer,
  HoldCall,
  InferenceCall,
  UpstreamBatchCall,
  UpstreamBatchState,
} from '../ports/inference.js';
import { FleetBody } from './fleet-body.js';

const STEPS = ['upload', 'find', 'create', 'look', 'cancel'] as const;

/** POST /internal/infer and /internal/infer/plan. */
export class InferBody extends FleetBody implements InferenceCall {
  @IsString() @Length(1, 128) key_id!: string;
  @IsString() @Length(1, 128) account_id!: string;
  @IsString() @Length(1, 128) request_id!: string;
  @IsInt() @Min(0) @Max(2_000_000_000) unit!: number;
  @Matches(/^\/v1\/[a-z/]{1,60}$/) recorded_path!: string;
  @Matches(/^\/v1\/[a-z/]{1,60}$/) endpoint!: string;
  @IsObject() body!: Record<string, unknown>;
  @IsBoolean() is_batch!: boolean;
  @IsOptional() @IsObject() task?: Record<string, unknown> | null;
  @IsOptional() @IsBoolean() is_repeat?: boolean;
  @IsOptional() @IsObject() background?: { response_id: string };
  @IsOptional() @IsObject() given?: GivenAnswer;
}

/** POST /internal/infer/worth. */
export class WorthBody extends InferBody {
  @IsArray() @ArrayMaxSize(256) @IsObject({ each: true }) bodies!: Record<string, unknown>[];
}

/** POST /internal/infer/hold. */
export class HoldBody implements HoldCall {
  @IsString() @Length(1, 128) key_id!: string;
  @IsString() @Length(1, 128) account_id!: string;
  @IsString() @Length(1, 128) request_id!: string;
  @IsString() @Length(1, 256) model!: string;
  @Matches(/^\d{1,18}$/) nano!: string;
  @IsBoolean() is_first!: boolean;
}

/** POST /internal/infer/batch. */
export class UpstreamBatchBody implements UpstreamBatchCall {
  @IsString() @Length(1, 128) key_id!: string;
  @IsString() @Length(1, 128) account_id!: string;
  @IsString() @Length(1, 128) request_id!: string;
  @Matches(/^\/v1\/[a-z/]{1,60}$/) endpoint!: string;
  @IsString() @Length(1, 128) batch_id!: string;
  @IsIn(STEPS) step!: (typeof STEPS)[number];
  @IsOptional() @IsObject() state!: UpstreamBatchState | null;
  @IsString() @Length(1, 512) input!: string;
  @IsString() @Length(1, 512) lines!: string;
}

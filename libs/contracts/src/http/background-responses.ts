import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Min,
  ValidateNested,
} from 'class-validator';
import { FleetBody } from './fleet-body.js';
import { IdempotencyClaimBody } from './idempotency.js';
import type {
  BackgroundRun,
  EndedResponse,
  NewBackgroundResponse,
  NumberedEvent,
} from '../ports/background-responses.js';

/** POST /internal/background-responses. */
export class BeginBackgroundBody extends FleetBody {
  @IsObject() response!: NewBackgroundResponse;
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => IdempotencyClaimBody)
  claim?: IdempotencyClaimBody;
}

/** POST /internal/background-responses/take. */
export class BackgroundRunBody implements BackgroundRun {
  @IsString() @Length(1, 128) key_id!: string;
  @IsString() @Length(1, 256) response_id!: string;
  @IsString() @Length(1, 64) run!: string;
}

/** POST /internal/background-responses/append. */
export class AppendEventsBody extends FleetBody {
  @IsObject() @ValidateNested() @Type(() => BackgroundRunBody) run!: BackgroundRunBody;
  @IsArray() @ArrayMaxSize(10_000) events!: NumberedEvent[];
  @IsOptional() @IsObject() ended?: EndedResponse | null;
}

/** POST /internal/background-responses/events. */
export class BackgroundEventsBody {
  @IsString() @Length(1, 128) key_id!: string;
  @IsString() @Length(1, 256) response_id!: string;
  @IsInt() @Min(-1) after!: number;
}

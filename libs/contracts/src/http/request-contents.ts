import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsOptional,
  IsString,
  Length,
  Max,
  Min,
  ValidateIf,
} from 'class-validator';
import { CONTENT_DAYS_MAX } from '../content-promises.js';
import type { AuditedAction } from '../ports/directory.js';
import type { UnitContent } from '../ports/request-contents.js';
import { FleetBody } from './fleet-body.js';

function IfSent(name: keyof RequestLoggingBody): PropertyDecorator {
  return ValidateIf((body: RequestLoggingBody) => body[name] !== undefined);
}

/** Settings of an organization for logged bodies. What is absent stays as it is; off until it is enabled. */
export class RequestLoggingBody {
  /** True if bodies of requests and answers are logged. */
  @IfSent('enabled') @IsBoolean() enabled?: boolean;
  /**
   * Days for which bodies are retained. A shorter time acts at once on stored bodies, a longer one on bodies written
   * from then on.
   */
  @IfSent('retention_days') @IsInt() @Min(1) @Max(CONTENT_DAYS_MAX) retention_days?: number;
  /** True if e-mail addresses, card, account and telephone numbers are masked; credentials always are. */
  @IfSent('redact') @IsBoolean() redact?: boolean;
}

export interface RequestLogging {
  enabled: boolean;
  retention_days: number;
  redact: boolean;
}

/** POST /internal/contents. */
export class KeepContentsBody extends FleetBody {
  @IsArray() @ArrayMaxSize(64) contents!: UnitContent[];
}

/** Request and answer of one unit. */
export interface UnitContentRecord {
  unit: number;
  endpoint: string;
  created_at: string;
  /** Instant of removal: the shortest retention that the organization has set since. */
  expires_at: string;
  /** The body as it came, masked; null where it was longer than 1 MiB or is no JSON. */
  request: Record<string, unknown> | null;
  request_bytes: number;
  /** The answer, masked, a stream as the plain answer of its frames; null where it was longer than 1 MiB, is no JSON, or there was none. */
  response: Record<string, unknown> | null;
  response_bytes: number;
  /** Places that were masked. */
  redactions: number;
}

/** Answer of GET /v1/usage/requests/{id}/content. */
export interface RequestContentRecord {
  request_id: string;
  /** Contents by unit, at most 8: a request that asks several models has one for each. */
  contents: UnitContentRecord[];
}

/** Query of reads and writes of one organization. */
export class UsageOrgQuery {
  @IsOptional() @IsString() @Length(1, 128) org_id?: string;
}

/** POST /internal/directory/audit. */
export class AuditBody implements AuditedAction {
  @IsString() @Length(1, 128) id!: string;
  @IsISO8601({ strict: true }) created_at!: string;
  @ValidateIf((body: AuditBody) => body.org_id !== null) @IsString() @Length(1, 128) org_id!: string | null;
  @IsIn(['key', 'session', 'admin_key', 'system']) actor_kind!: AuditedAction['actor_kind'];
  @IsString() @Length(1, 128) actor_id!: string;
  @IsString() @Length(0, 128) ip!: string;
  @IsString() @Length(1, 128) action!: string;
  @IsString() @Length(1, 128) target_type!: string;
  @IsString() @Length(1, 256) target_id!: string;
  @IsArray() @ArrayMaxSize(100) @IsString({ each: true }) changed_fields!: string[];
  @IsString() @Length(1, 128) request_id!: string;
}

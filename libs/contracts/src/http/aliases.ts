import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsISO8601,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import type { AliasShadow, AliasTarget } from '../catalogue/alias-book.js';
import type { Money } from '../catalogue/price-record.js';
import { ID_PATTERN } from './keys.js';

/** A name with at most one slash; with one it looks like the id of a model. Case counts. */
export const ALIAS_NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}(\/[A-Za-z0-9][A-Za-z0-9._:-]{0,159})?$/;
const MODEL_ID = /^[a-z0-9][a-z0-9-]{0,63}\/[a-z0-9][a-z0-9._-]{0,159}$/;

/** One of the models that an alias stands for. */
class AliasTargetBody {
  /** Id of a model of the catalogue. */
  @Matches(MODEL_ID) model!: string;
  /** Share of the requests, beside the other weights; 0 is never drawn. */
  @IsInt() @Min(0) @Max(1_000) weight!: number;
}

/** A second model that a sample of the requests goes to, too, once they are answered. */
class AliasShadowBody {
  /** Id of a model of the catalogue. */
  @Matches(MODEL_ID) model!: string;
  /** Part of the requests in per cent. */
  @IsNumber() @Min(0.01) @Max(100) sample_pct!: number;
}

class NewAliasBody {
  /** Name that requests use as a model. No id of the catalogue, and not `auto`. */
  @Matches(ALIAS_NAME_PATTERN) name!: string;
  /** Models that the name stands for. One weight is above 0. */
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(8)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => AliasTargetBody)
  targets!: AliasTargetBody[];
  @IsOptional() @IsString() @Length(1, 1_000) description?: string | null;
  /** false: the name is unknown to requests. */
  @IsOptional() @IsBoolean() is_enabled?: boolean;
}

/** Body of POST /v1/admin/aliases. */
export class CreatePlatformAliasBody extends NewAliasBody {
  /** null or absent for none. The platform pays for it. */
  @IsOptional() @IsObject() @ValidateNested() @Type(() => AliasShadowBody) shadow?: AliasShadowBody | null;
}

/** Body of POST /v1/aliases. */
export class CreateAliasBody extends NewAliasBody {
  /** The organization whose keys may use the name. Cannot change later. */
  @Matches(ID_PATTERN) org_id!: string;
}

/** Body of PATCH /v1/aliases/{id}: what is absent stays as it is. */
export class UpdateAliasBody {
  @ValidateIf((body: UpdateAliasBody) => body.name !== undefined)
  @Matches(ALIAS_NAME_PATTERN)
  name?: string;
  /** Replaces all targets. */
  @ValidateIf((body: UpdateAliasBody) => body.targets !== undefined)
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(8)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => AliasTargetBody)
  targets?: AliasTargetBody[];
  /** null removes it. */
  @IsOptional() @IsString() @Length(1, 1_000) description?: string | null;
  @ValidateIf((body: UpdateAliasBody) => body.is_enabled !== undefined)
  @IsBoolean()
  is_enabled?: boolean;
}

/** Body of PATCH /v1/admin/aliases/{id}. Of an organization's alias it may hold `shadow` alone. */
export class UpdatePlatformAliasBody extends UpdateAliasBody {
  /** null removes it. */
  @IsOptional() @IsObject() @ValidateNested() @Type(() => AliasShadowBody) shadow?: AliasShadowBody | null;
}

class AliasPageQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
  /** Number of rows to skip. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1_000_000) offset: number = 0;
}

/** Query of GET /v1/admin/aliases. */
export class ListPlatformAliasesQuery extends AliasPageQuery {
  /** Aliases of one organization; absent = the platform's. */
  @IsOptional() @IsString() @Length(1, 80) org_id?: string;
}

/** Query of GET /v1/aliases. */
export class ListAliasesQuery extends AliasPageQuery {
  /** Aliases of one organization; absent = of all that the caller is in. */
  @IsOptional() @IsString() @Length(1, 80) org_id?: string;
}

/** A name that stands for models. */
export interface AliasRecord {
  id: string;
  /** null = of the platform: every key may use it. */
  org_id: string | null;
  name: string;
  targets: AliasTarget[];
  /** A second model that a sample of the requests goes to, too; null for none. */
  shadow: Omit<AliasShadow, 'alias_id'> | null;
  description: string | null;
  is_enabled: boolean;
  /** The person who made it; null where the operator's file names it. */
  created_by: string | null;
  created_at: string;
  updated_at: string;
}

/** Query of GET /v1/admin/aliases/{id}/shadow. */
export class AliasShadowQuery extends AliasPageQuery {
  /** ISO 8601; shadows from here on. Absent: 30 days before `until`. */
  @IsOptional() @IsISO8601({ strict: true }) since?: string;
  /** ISO 8601; shadows up to then. Absent: now. */
  @IsOptional() @IsISO8601({ strict: true }) until?: string;
}

interface ShadowFigures {
  /** Milliseconds. Of totals the median. */
  latency_ms: number | null;
  /** Milliseconds to the first piece; null where none came. Of totals the median. */
  ttft_ms: number | null;
  prompt_tokens: number;
  completion_tokens: number;
  cost_usd: Money | null;
}

/** One side of a pair: what the caller was answered, or the shadow. */
export interface ShadowSide extends ShadowFigures {
  model: string;
  outcome: string;
  http_status: number;
}

export interface ShadowTotals extends ShadowFigures {
  requests: number;
  errors: number;
}

/** Requests of callers beside their shadows, newest first. Nothing of what they said. */
export interface AliasShadowPage {
  data: {
    /** Id of the caller's request. */
    request_id: string;
    /** Time at which the shadow was begun. */
    created_at: string;
    /** null where its usage event is not there (yet). */
    primary: ShadowSide | null;
    shadow: ShadowSide | null;
  }[];
  /** Sums of the newest 10,000 pairs in the time. */
  totals: { primary: ShadowTotals; shadow: ShadowTotals };
  total: number;
  limit: number;
  offset: number;
}

import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
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
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { AMOUNT_PATTERN, MODEL_PATTERN } from './keys.js';
import { IsName } from './one-line.js';
import { CursorPageQuery } from './page.js';
import { RequestLoggingBody, type RequestLogging } from './request-contents.js';

const INT_MAX = 2_147_483_647;

/** The ceilings to which an organization may raise its limits. */
export const ORG_TIERS = ['standard', 'enterprise', 'platform'] as const;
export type OrgTier = (typeof ORG_TIERS)[number];

/** Limits and model lists of a scope above the key: organization, member, team, team member. null clears. */
export class ScopeLimitsBody {
  /** Requests per minute; the ceiling follows the tier of the organization. */
  @IsOptional() @IsInt() @Min(1) @Max(INT_MAX) rpm_limit?: number | null;
  /** Requests per day. */
  @IsOptional() @IsInt() @Min(1) @Max(INT_MAX) rpd_limit?: number | null;
  /** Tokens per minute. */
  @IsOptional() @IsInt() @Min(1) @Max(INT_MAX) tpm_limit?: number | null;
  /** Ceiling of the last 30 days, decimal text of USD; null = unlimited. */
  @IsOptional()
  @Matches(AMOUNT_PATTERN, { message: 'spend_cap_usd must be a decimal string of USD' })
  spend_cap_usd?: string | null;
  /** Exact ids or `<brand>/*`; null = every model. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(500)
  @ArrayUnique()
  @Matches(MODEL_PATTERN, { each: true, message: 'each value must be a model id or <brand>/*' })
  allowed_models?: string[] | null;
  /** Wins over the allow-list. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(500)
  @ArrayUnique()
  @Matches(MODEL_PATTERN, { each: true, message: 'each value must be a model id or <brand>/*' })
  blocked_models?: string[] | null;
}

/** Body of PUT /v1/admin/organization-defaults: what new organizations begin with where their creators say nothing else. */
export class OrgDefaultsBody extends ScopeLimitsBody {
  /** Ceilings of the limits. Only a super admin sets this. */
  @ValidateIf((body: OrgDefaultsBody) => body.tier !== undefined) @IsIn(ORG_TIERS) tier?: OrgTier;
  /** Contract version that new keys are pinned to, `YYYY-MM`; null = none. */
  @IsOptional() @IsString() @Length(1, 20) default_api_version?: string | null;
  /** True if keys may open realtime sessions. Only a super admin sets it and the bounds of a session. */
  @ValidateIf((body: OrgDefaultsBody) => body.realtime_enabled !== undefined)
  @IsBoolean()
  realtime_enabled?: boolean;
  /** Sessions of one key on one edge at a time; null = the deployment's. */
  @IsOptional() @IsInt() @Min(1) @Max(4_096) realtime_max_sessions?: number | null;
  /** Bound of one session; null = the deployment's. */
  @IsOptional() @IsInt() @Min(1) @Max(86_400) realtime_max_seconds?: number | null;
  /** Bound of one session; null = the deployment's. */
  @IsOptional() @IsInt() @Min(1) @Max(INT_MAX) realtime_max_tokens?: number | null;
}

class OrgFieldsBody extends OrgDefaultsBody {
  /** Largest debt of the balance, decimal text of USD; null = unlimited. Only a super admin sets it. */
  @IsOptional()
  @Matches(AMOUNT_PATTERN, { message: 'credit_limit_usd must be a decimal string of USD' })
  credit_limit_usd?: string | null;
  /** Logging of the bodies of requests and answers: whether, for how long, and how much is masked. */
  @ValidateIf((body: OrgFieldsBody) => body.request_logging !== undefined)
  @IsObject()
  @ValidateNested()
  @Type(() => RequestLoggingBody)
  request_logging?: RequestLoggingBody;
}

/** Body of POST /v1/orgs. */
export class CreateOrgBody extends OrgFieldsBody {
  @IsString() @Length(1, 200) @IsName() name!: string;
}

/** Body of PATCH /v1/orgs/{id}: what is absent stays as it is. */
export class UpdateOrgBody extends OrgFieldsBody {
  @ValidateIf((body: UpdateOrgBody) => body.name !== undefined)
  @IsString()
  @Length(1, 200)
  @IsName()
  name?: string;
}

/** Query of GET /v1/orgs. */
export class ListOrgsQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
  /** Number of rows to skip. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1_000_000) offset: number = 0;
  /** Part of a name. */
  @IsOptional() @IsString() @Length(1, 200) q?: string;
}

/** Limits and model lists as they are stored; null = none. */
export interface ScopeLimitsRecord {
  rpm_limit: number | null;
  rpd_limit: number | null;
  tpm_limit: number | null;
  spend_cap_usd: string | null;
  allowed_models: string[] | null;
  blocked_models: string[] | null;
}

export interface OrgRecord extends ScopeLimitsRecord {
  id: string;
  name: string;
  tier: OrgTier;
  default_api_version: string | null;
  credit_limit_usd: string | null;
  realtime_enabled: boolean;
  realtime_max_sessions: number | null;
  realtime_max_seconds: number | null;
  realtime_max_tokens: number | null;
  request_logging: RequestLogging;
  created_at: string;
  updated_at: string;
}

/** Defaults of new organizations; an absent field means none. */
export interface OrgDefaultsRecord {
  rpm_limit?: number;
  rpd_limit?: number;
  tpm_limit?: number;
  spend_cap_usd?: string;
  allowed_models?: string[];
  blocked_models?: string[];
  default_api_version?: string;
  realtime_enabled?: boolean;
  realtime_max_sessions?: number;
  realtime_max_seconds?: number;
  realtime_max_tokens?: number;
}

/** Pages of the dashboard that keep views. */
const VIEW_PAGES = ['/usage', '/requests'] as const;
type ViewPage = (typeof VIEW_PAGES)[number];
const VIEW_NAME_MAX = 60;

/** Query of GET /v1/orgs/{id}/views. */
export class ListViewsQuery extends CursorPageQuery {
  /** Views of this page only. */
  @IsOptional() @IsIn(VIEW_PAGES) page?: ViewPage;
}

/** Body of POST /v1/orgs/{id}/views. */
export class CreateViewBody {
  /** Page of the dashboard: `/usage` or `/requests`. */
  @IsIn(VIEW_PAGES) page!: ViewPage;
  /** Unique on a page of an organization. */
  @IsString() @Length(1, VIEW_NAME_MAX) @IsName() name!: string;
  /** Parameters of the page's address: at most 30 texts, 4,000 characters together. */
  @IsObject() search!: Record<string, unknown>;
}

/** Body of PATCH /v1/orgs/{id}/views/{view_id}: what is absent stays as it is. */
export class UpdateViewBody {
  /** Unique on a page of an organization. */
  @IsOptional() @IsString() @Length(1, VIEW_NAME_MAX) @IsName() name?: string;
  /** Parameters of the page's address, all of them. */
  @IsOptional() @IsObject() search?: Record<string, unknown>;
}

/** A name for what a page of the dashboard shows, for everybody in the organization. */
export interface ViewRecord {
  id: string;
  org_id: string;
  page: string;
  name: string;
  search: Record<string, string>;
  /** User id of who made it. */
  created_by: string;
  created_at: string;
  updated_at: string;
}

import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import type { PeriodBudgetRecord } from './period-budget.js';
import type { ModelLimit, RoutingPolicy, ScopeKind } from '../ports/principal.js';
import { IsSort } from './page.js';

/** Scopes of an rsk_ key (management-api, API keys). A key without scopes may do all of them. */
const KEY_SCOPES = [
  'inference:write',
  'models:read',
  'usage:read',
  'files:write',
  'batches:write',
  'videos:write',
  'realtime:connect',
  'search:write',
  'templates:read',
  'evaluate:write',
  'end-users:write',
] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];

/** `suspended` after DELETE. */
export type KeyStatus = 'active' | 'suspended';

/** A non-negative amount of USD: decimal text, never a JSON number. */
export const AMOUNT_PATTERN = /^\d{1,12}(\.\d{1,12})?$/;
/** An exact model id, or every model of a brand: `<brand>/*`. */
export const MODEL_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}\/(\*|[A-Za-z0-9][A-Za-z0-9._:@/-]{0,159})$/;
/** A model id, a model's name without its brand, or `auto`. */
const MODEL_NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,223}$/;
const SLUG_PATTERN = /^[a-z0-9][a-z0-9-]{0,63}$/;
export const ID_PATTERN = /^[a-z]{2,8}_[0-9A-Za-z-]{1,64}$/;
const INT_MAX = 2_147_483_647;
const DAY_MS = 86_400_000;

/** Ceilings of a routing policy on prices, in USD per million tokens. */
export class MaxPriceBody {
  @IsOptional() @Matches(AMOUNT_PATTERN) prompt_usd_per_1m?: string | null;
  @IsOptional() @Matches(AMOUNT_PATTERN) completion_usd_per_1m?: string | null;
}

/** Retry and fallback of a key's requests. Only the fields that are set are stored; null counts as not set. */
export class RoutingPolicyBody {
  /** Retries on the same route; gateway default 2. */
  @IsOptional() @IsInt() @Min(0) @Max(5) max_retries?: number | null;
  @IsOptional() @IsInt() @Min(0) @Max(60_000) retry_backoff_ms?: number | null;
  @IsOptional() @IsInt() @Min(1) @Max(DAY_MS) attempt_timeout_ms?: number | null;
  @IsOptional() @IsInt() @Min(1) @Max(DAY_MS) total_timeout_ms?: number | null;
  /** May another provider serve when the first one fails; gateway default true. */
  @IsOptional() @IsBoolean() allow_fallbacks?: boolean | null;
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(5)
  @Matches(MODEL_NAME_PATTERN, { each: true })
  fallback_models?: string[] | null;
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(64)
  @Matches(SLUG_PATTERN, { each: true })
  provider_order?: string[] | null;
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(64)
  @Matches(SLUG_PATTERN, { each: true })
  only_providers?: string[] | null;
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(64)
  @Matches(SLUG_PATTERN, { each: true })
  ignore_providers?: string[] | null;
  @IsOptional() @IsIn(['price', 'latency', 'throughput', 'balanced']) sort?: RoutingPolicy['sort'] | null;
  @IsOptional() @IsObject() @ValidateNested() @Type(() => MaxPriceBody) max_price?: MaxPriceBody | null;
  @IsOptional() @IsBoolean() require_zero_retention?: boolean | null;
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(64)
  @Matches(SLUG_PATTERN, { each: true })
  regions?: string[] | null;
}

/** Gateway response cache of a key's requests. */
export class ResponseCacheBody {
  @IsBoolean() enabled!: boolean;
  /** Seconds an answer is kept; default 300. */
  @IsOptional() @IsInt() @Min(1) @Max(86_400) ttl_seconds?: number;
}

/** Fields of PATCH /v1/keys/{id}: what is absent stays as it is, null clears. */
export class UpdateKeyBody {
  /** Human name in the dashboard and in usage breakdowns. */
  @IsOptional() @IsString() @MaxLength(200) label?: string | null;
  /** Model of requests that name none. */
  @IsOptional() @Matches(MODEL_NAME_PATTERN) default_model?: string | null;
  /** Requests per minute; the ceiling follows the tier of the organization. */
  @IsOptional() @IsInt() @Min(1) @Max(INT_MAX) rpm?: number | null;
  /** Requests per day. */
  @IsOptional() @IsInt() @Min(1) @Max(INT_MAX) rpd?: number | null;
  /** Tokens per minute; only an explicit one throttles. */
  @IsOptional() @IsInt() @Min(1) @Max(INT_MAX) tpm?: number | null;
  /** Ceiling of everything the key ever spends, decimal text of USD; null = unlimited. */
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
  /** Overrides by exact id or `<brand>/*`: {rpm?, rpd?, tpm?, spend_cap_usd?}. */
  @IsOptional() @IsObject() model_limits?: Record<string, unknown> | null;
  /** A team of the key's organization. */
  @IsOptional() @Matches(ID_PATTERN) team_id?: string | null;
  /** Excludes routing_policy_template_id. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => RoutingPolicyBody)
  routing_policy?: RoutingPolicyBody | null;
  /** A template of the key's organization. */
  @IsOptional() @IsString() @Length(1, 80) routing_policy_template_id?: string | null;
  /** Contract version of its requests, `YYYY-MM`; null = none. */
  @IsOptional() @IsString() @Length(1, 20) api_version?: string | null;
  /** The only provider that may serve the key. */
  @IsOptional() @Matches(SLUG_PATTERN) fixed_provider?: string | null;
  /** null = everything an inference key may do. */
  @IsOptional() @IsArray() @ArrayUnique() @IsIn(KEY_SCOPES, { each: true }) scopes?: KeyScope[] | null;
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ResponseCacheBody)
  response_cache?: ResponseCacheBody | null;
  /** Tags that every usage event of the key carries, at most 16. */
  @IsOptional() @IsObject() request_tags?: Record<string, unknown> | null;
  /** ISO 8601 with offset, in the future; from then on the key is unknown (401). */
  @IsOptional()
  @IsISO8601({ strict: true, strictSeparator: true })
  @Matches(/T.*(?:Z|[+-]\d{2}:?\d{2})$/, { message: 'expires_at must be an ISO 8601 time with offset' })
  expires_at?: string | null;
}

/** Body of POST /v1/keys. */
export class CreateKeyBody extends UpdateKeyBody {
  /** The organization that pays; absent = the caller's own account. Cannot change later. */
  @IsOptional() @Matches(ID_PATTERN) org_id?: string | null;
}

/** Body of POST /v1/keys/{id}/rotate. */
export class RotateKeyBody {
  /** Time for which the old secret goes on working. */
  @IsOptional() @IsInt() @Min(0) @Max(86_400) grace_seconds: number = 0;
}

/** Orders of GET /v1/keys; a leading `-` turns one round. */
const KEY_SORTS = [
  ...['created_at', 'updated_at', 'last_used_at', 'label', 'status'],
  ...['spend_cap_usd', 'expires_at'],
] as const;

/** Value in place of an organization's id: keys that the caller's own account pays for. */
export const NO_ORG = 'none';

/** Query of GET /v1/keys. */
export class ListKeysQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
  /** Number of rows to skip. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1_000_000) offset: number = 0;
  /** Keys of one organization only; `none`: those of the caller's own account. */
  @IsOptional() @IsString() @Length(1, 80) org_id?: string;
  /** Keys of one team only. */
  @IsOptional() @IsString() @Length(1, 80) team_id?: string;
  /** Keys in this state only. */
  @IsOptional() @IsIn(['active', 'suspended']) status?: KeyStatus;
  /** Keys of one member only, by user id. */
  @IsOptional() @IsString() @Length(1, 80) created_by?: string;
  /** Part of the label, in any case. */
  @IsOptional() @IsString() @Length(1, 200) label?: string;
  /** Keys whose default model or allow-list names it. */
  @IsOptional() @IsString() @Length(1, 224) model?: string;
  /** Default: newest first. A key that has no such value, as one that was never used, comes last in both directions. */
  @IsOptional() @IsSort(KEY_SORTS) sort?: string;
}

/** Query of GET /v1/keys/filter-options: what is searched, and how many values of each kind are answered. */
export class KeyFilterOptionsQuery {
  /** Values of the keys of one organization only; `none`: of those of the caller's own account. */
  @IsOptional() @IsString() @Length(1, 80) org_id?: string;
  /** Part of a label, model, name or address, in any case. */
  @IsOptional() @IsString() @Length(1, 200) q?: string;
  /** Largest number of values of each kind to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
}

/** The key record. It never holds the secret. */
export interface ApiKeyRecord {
  id: string;
  label: string | null;
  /** `rsk_ab12...wxyz`: the only trace of the secret. */
  masked_key: string;
  status: KeyStatus;
  default_model: string | null;
  rpm_limit: number | null;
  rpd_limit: number | null;
  tpm_limit: number | null;
  spend_cap_usd: string | null;
  /** Lifetime spend. null only in the answer to a write while the ledger cannot be asked. */
  spent_usd: string | null;
  allowed_models: string[] | null;
  blocked_models: string[] | null;
  model_limits: Record<string, ModelLimit>;
  org_id: string | null;
  team_id: string | null;
  /** User id of the member whom it belongs to. */
  created_by: string;
  /** Contains only the fields that were set. */
  routing_policy: RoutingPolicy | null;
  routing_policy_template_id: string | null;
  api_version: string | null;
  fixed_provider: string | null;
  scopes: string[] | null;
  response_cache: { enabled: boolean; ttl_seconds: number };
  request_tags: Record<string, string>;
  expires_at: string | null;
  last_used_at: string | null;
  created_at: string;
  updated_at: string;
}

/** Answer of POST /v1/keys: the record, and the plaintext once. */
export interface CreatedApiKey extends ApiKeyRecord {
  /** Absent where an Idempotency-Key is sent again. */
  key?: string;
  /** Sentence that the account's balance is empty, with the ways to fill it; null where it is not. */
  notice: string | null;
}

/** Answer of POST /v1/keys/{id}/rotate: the record, and the new plaintext once. */
export interface RotatedApiKey extends ApiKeyRecord {
  key: string;
}

/** Answer of GET /v1/keys/filter-options: values that the caller's keys can be filtered by. */
export interface KeyFilterOptions {
  orgs: { id: string; name: string }[];
  teams: { id: string; name: string; org_id: string }[];
  members: { id: string; name: string; email: string }[];
  statuses: KeyStatus[];
  models: string[];
  api_versions: string[];
  labels: string[];
}

export interface ScopeLimitRecord {
  rpm_limit: number | null;
  rpd_limit: number | null;
  tpm_limit: number | null;
  spend_cap_usd: string | null;
  /** Lifetime for the key, the last 30 days for the other scopes. GET /v1/key shows the key's own only. */
  spent_usd: string | null;
}

/** Answer of GET /v1/keys/{id}/limits. */
export interface KeyLimitsRecord {
  key_id: string;
  /** Value set on the key; null = not set. */
  rpm_limit: number | null;
  rpd_limit: number | null;
  tpm_limit: number | null;
  spend_cap_usd: string | null;
  /** null where the scope does not apply. */
  scopes: Record<ScopeKind, ScopeLimitRecord | null>;
  /** Minimum over all scopes, defaults included; null = unlimited. */
  effective_rpm_limit: number | null;
  effective_rpd_limit: number | null;
  effective_tpm_limit: number | null;
  effective_spend_cap_usd: string | null;
  /** The scope that sets each effective value; null = no scope does. */
  binding: Record<'rpm' | 'rpd' | 'tpm' | 'spend_cap', ScopeKind | null> & {
    /** Id of the budget with the least left; null = none, or not known. Absent where the key itself reads. */
    budget?: string | null;
  };
  /** Enabled budgets that hold for the key, oldest first. Absent where the key itself reads. */
  budgets?: PeriodBudgetRecord[];
}

/** Answer of GET /v1/key: the key of this request, and what is left of its own limits. */
export interface OwnKeyRecord extends ApiKeyRecord {
  limits: KeyLimitsRecord;
  /** null where a number is unlimited, or the store that counts cannot be asked. */
  remaining: { rpm: number | null; rpd: number | null; tpm: number | null; spend_usd: string | null };
}

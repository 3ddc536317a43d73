import { Type } from 'class-transformer';
import {
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Min,
  ValidateNested,
} from 'class-validator';
import type { PriceTier, UnitUsage } from '../catalogue/price-record.js';
import { NOT_BEGUN, type NotBegun } from '../errors/upstream-error.js';
import type { SpendScope } from '../ports/principal.js';
import { MONEY_PATTERN } from './money-pattern.js';

/** One try of one route, as it went. */
export class AttemptRecord {
  /** Number of the attempt, from 1. */
  @IsInt() @Min(1) n!: number;
  /** Slug of the provider. Never shown in events or attempts reads. */
  @IsString() provider!: string;
  /** Id of the platform credential, at a provider that has several. Only super admins are shown it. */
  @IsOptional() @IsString() credential_id?: string;
  /** Name of the model at the provider. Only super admins are shown it. */
  @IsOptional() @IsString() upstream_model?: string;
  /** Catalogue id of the model. */
  @IsString() model!: string;
  @IsIn(['success', 'error', 'cancelled']) status!: 'success' | 'error' | 'cancelled';
  /** HTTP status of the upstream; null without an answer. */
  @IsOptional() @IsInt() http_status!: number | null;
  @IsOptional() @IsString() error_code!: string | null;
  @IsOptional() @IsString() provider_code!: string | null;
  /** Scrubbed; may name the provider. */
  @IsOptional() @IsString() error_message!: string | null;
  /**
   * Reason why another attempt cannot be charged twice, for a failed attempt to make images, speech or a video.
   * `not_sent`, `not_connected`, or `refused` by the provider's status.
   */
  @IsOptional() @IsIn(NOT_BEGUN) not_begun?: NotBegun;
  /** ISO 8601 UTC. */
  @IsString() started_at!: string;
  @IsNumber() latency_ms!: number;
  /** Milliseconds to the first decoded event; null without one. */
  @IsOptional() @IsNumber() ttft_ms!: number | null;
  @IsInt() prompt_tokens!: number;
  @IsInt() completion_tokens!: number;
  /** True for the attempt whose answer the caller got. */
  @IsBoolean() served!: boolean;
  /** List cost of a failed attempt's reported usage, borne by the platform; null where there is none. */
  @IsOptional() @Matches(MONEY_PATTERN) house_usd!: string | null;
}

/** Facts that the price was made from, so that pricing again needs only the snapshot. */
export class PricedFrom {
  @IsString() snapshot_id!: string;
  @IsString() provider!: string;
  @IsString() upstream_model!: string;
  @IsIn(['default', 'flex', 'batch']) tier!: PriceTier;
  /** Decimal string 0 to 100; null without a discount. */
  @IsOptional() @IsString() discount_pct!: string | null;
  @IsBoolean() byok_served!: boolean;
  @IsString() byok_fee_pct!: string;
  @IsObject() context!: Record<string, string | number | boolean>;
  /** Name of the price window that was in force; null for the standard price. Absent in records of earlier releases. */
  @IsOptional() @IsString() price_window?: string | null;
  /** Instant at which the priced attempt was begun at its provider, ISO 8601 UTC. Absent in records of earlier releases. */
  @IsOptional() @IsString() priced_at?: string;
}

/**
 * Counters of one scope as admission saw them, after counting this unit. null limit = unlimited.
 * A capped counter of model_limits is listed too, as {scope: 'key', scope_id: '<key id>/m:<model or brand/*>'}, and the period
 * of a budget as {scope, scope_id: '<scope id>/b:<start>-<end>.<counted from>'}, in milliseconds since 1970; of a rolling one
 * `b:r<days>.<counted from>`.
 */
export class LimitReading {
  @IsString() scope!: SpendScope;
  @IsString() scope_id!: string;
  @IsInt() rpm!: number;
  @IsOptional() @IsInt() rpm_limit!: number | null;
  @IsInt() rpd!: number;
  @IsOptional() @IsInt() rpd_limit!: number | null;
  /** Spend cap of the scope at admission; null or absent = none. From a key's, spend movements are made. */
  @IsOptional() @Matches(MONEY_PATTERN) cap_usd?: string | null;
}

/** A budget with thresholds that counts the unit, as it was when the unit was admitted. */
export class BudgetReading {
  @IsString() budget_id!: string;
  @IsString() name!: string;
  @IsString() scope!: SpendScope;
  @IsString() scope_id!: string;
  /** The amount with its raise. */
  @Matches(MONEY_PATTERN) amount_usd!: string;
  @IsInt({ each: true }) thresholds_pct!: number[];
  /** Milliseconds since 1970: first instant of the unit's period, and the first after it; null of a rolling one. */
  @IsOptional() @IsInt() start_ms!: number | null;
  @IsOptional() @IsInt() end_ms!: number | null;
  /** Set for a rolling one alone. */
  @IsOptional() @IsInt() rolling_days?: number;
}

/** Request of a caller that a shadow repeats, and the alias that it was made for. */
export class ShadowOf {
  /** `alias_<uuidv7>`. */
  @IsString() alias_id!: string;
  /** `req_<uuidv7>` of the caller's request. */
  @IsString() request_id!: string;
}

/** One finished unit: the record of gateway.usage.v1. One unit = one usage event = one cost. */
export class UsageRecord {
  /** `use_<uuidv7>`: the id of the usage event. */
  @IsString() id!: string;
  /** `req_<uuidv7>`. Of a batch: of the request that made it, whose units are its lines. */
  @IsString() request_id!: string;
  /** 0 for a chat; several units of one request count up. */
  @IsInt() @Min(0) unit!: number;
  @IsString() account_id!: string;
  @IsOptional() @IsString() org_id!: string | null;
  @IsOptional() @IsString() team_id!: string | null;
  /** Creator of the key: member limits are attributed to them. */
  @IsString() member_id!: string;
  @IsString() key_id!: string;
  /** Path the caller used, for example /v1/chat/completions; of a line of a batch /v1/batches. */
  @IsString() endpoint!: string;
  /** Catalogue id that served (or would have). */
  @IsString() model!: string;
  /** Model that the caller asked for. */
  @IsString() requested_model!: string;
  /** Provider of the last attempt; null where none was called. */
  @IsOptional() @IsString() provider!: string | null;
  @IsIn(['success', 'error']) status!: 'success' | 'error';
  @IsIn(['served', 'failed', 'cached', 'cancelled']) outcome!: 'served' | 'failed' | 'cached' | 'cancelled';
  /** Status the caller got; for a cancelled stream the one that was sent. */
  @IsInt() http_status!: number;
  @IsOptional() @IsString() error_code!: string | null;
  /** Answered as a stream. True of background responses and videos, too, which the gateway follows for the caller. */
  @IsBoolean() stream!: boolean;
  @IsObject() usage!: UnitUsage;
  /** The provider sent no usage, or not all: counted by the estimate. */
  @IsBoolean() usage_estimated!: boolean;
  /** null where no route was priced. */
  @IsOptional() @ValidateNested() @Type(() => PricedFrom) priced_from!: PricedFrom | null;
  /** Amount that the account pays, in USD. Decimal string; null for what is not billed. */
  @IsOptional() @Matches(MONEY_PATTERN) cost_usd!: string | null;
  /** `off`: admitted while the deployment billed nobody, so the platform pays the cost for the account. Absent while billing is on. */
  @IsOptional() @IsIn(['off']) billing?: 'off';
  /** The same at list price, without a discount or the fee of a customer's own provider key. */
  @IsOptional() @Matches(MONEY_PATTERN) list_cost_usd!: string | null;
  @IsArray() @ValidateNested({ each: true }) @Type(() => AttemptRecord) attempts!: AttemptRecord[];
  @IsNumber() latency_ms!: number;
  /** Milliseconds to the first piece of the answer; null where none came. */
  @IsOptional() @IsNumber() ttft_ms!: number | null;
  /** ISO 8601 UTC, when the request came in. */
  @IsString() created_at!: string;
  @IsBoolean() routing_fallback!: boolean;
  @IsBoolean() byok_used!: boolean;
  @IsBoolean() cache_hit!: boolean;
  @IsObject() request_tags!: Record<string, string>;
  /** HMAC of the caller's end-user id; the plain id never enters usage data. */
  @IsOptional() @IsString() end_user_hash!: string | null;
  /** Contract version of the answer; the newest where the gateway ran it for the caller (background, batches, videos). */
  @IsString() api_version!: string;
  /** Scopes the money counts on, key first. */
  @IsArray() @ValidateNested({ each: true }) @Type(() => LimitReading) limits!: LimitReading[];
  /** Budgets whose thresholds the cost may reach; absent = none. */
  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => BudgetReading)
  budgets?: BudgetReading[];
  /** Set for a shadow: a unit that the platform pays, of which no caller knows. */
  @IsOptional() @ValidateNested() @Type(() => ShadowOf) shadow_of?: ShadowOf;
  /** Name of the edge that wrote it. */
  @IsString() producer!: string;
  /** One life of that edge. */
  @IsString() epoch!: string;
  /** Counts the records of its epoch on this topic, gateway.usage.v2 and gateway.rejections.v1 together, from 1 without a hole. */
  @IsInt() @Min(1) seq!: number;
}

/** One try of one route. A member that is absent is as its comment says. */
export class AttemptRecordV2 {
  /** Absent = its place among the attempts, from 1. */
  @IsOptional() @IsInt() @Min(1) n?: number;
  /** Absent = the record's. */
  @IsOptional() @IsString() provider?: string;
  /** Id of the platform credential, at a provider that has several. */
  @IsOptional() @IsString() credential_id?: string;
  /** Name of the model at the provider. */
  @IsOptional() @IsString() upstream_model?: string;
  /** Absent = the record's. */
  @IsOptional() @IsString() model?: string;
  /** Absent = `success` where it is served, `error` otherwise. */
  @IsOptional() @IsIn(['success', 'error', 'cancelled']) status?: 'success' | 'error' | 'cancelled';
  /** Absent = the record's; null without an answer. */
  @IsOptional() @IsInt() http_status?: number | null;
  /** Absent = null. */
  @IsOptional() @IsString() error_code?: string | null;
  /** Absent = null. */
  @IsOptional() @IsString() provider_code?: string | null;
  /** Absent = null. Scrubbed; may name the provider. */
  @IsOptional() @IsString() error_message?: string | null;
  /** Reason why another attempt cannot be charged twice: that of v1. */
  @IsOptional() @IsIn(NOT_BEGUN) not_begun?: NotBegun;
  /** ISO 8601 UTC. */
  @IsString() started_at!: string;
  @IsNumber() latency_ms!: number;
  /** Absent = `latency_ms`; null without a decoded event. */
  @IsOptional() @IsNumber() ttft_ms?: number | null;
  /** Absent = that of the record's usage. */
  @IsOptional() @IsInt() prompt_tokens?: number;
  /** Absent = that of the record's usage. */
  @IsOptional() @IsInt() completion_tokens?: number;
  /** Absent = true for the last attempt of a served unit, false otherwise. */
  @IsOptional() @IsBoolean() served?: boolean;
  /** Absent = null. */
  @IsOptional() @Matches(MONEY_PATTERN) house_usd?: string | null;
}

/** Facts that the price was made from. */
export class PricedFromV2 {
  @IsString() snapshot_id!: string;
  /** Absent = the record's. */
  @IsOptional() @IsString() provider?: string;
  /** Absent = that of the last attempt. */
  @IsOptional() @IsString() upstream_model?: string;
  /** Absent = `default`. */
  @IsOptional() @IsIn(['default', 'flex', 'batch']) tier?: PriceTier;
  /** Absent = null. */
  @IsOptional() @IsString() discount_pct?: string | null;
  /** Absent = `byok_used` of the record. */
  @IsOptional() @IsBoolean() byok_served?: boolean;
  /** Absent = `0`. */
  @IsOptional() @IsString() byok_fee_pct?: string;
  /** Absent = empty. */
  @IsOptional() @IsObject() context?: Record<string, string | number | boolean>;
  /** Absent = null: the standard price. */
  @IsOptional() @IsString() price_window?: string | null;
  /** Absent = `started_at` of the last attempt. */
  @IsOptional() @IsString() priced_at?: string;
}

/** Counters of one scope as admission saw them. */
export class LimitReadingV2 {
  @IsString() scope!: SpendScope;
  /** Absent = the record's own: `key_id`, `member_id`, `team_id`, `org_id`, of a team member `<team_id>/<member_id>`. */
  @IsOptional() @IsString() scope_id?: string;
  /** Absent = 0. */
  @IsOptional() @IsInt() rpm?: number;
  /** Absent = null: unlimited. */
  @IsOptional() @IsInt() rpm_limit?: number | null;
  /** Absent = 0. */
  @IsOptional() @IsInt() rpd?: number;
  /** Absent = null: unlimited. */
  @IsOptional() @IsInt() rpd_limit?: number | null;
  /** Spend cap of the scope at admission. Absent = none. */
  @IsOptional() @Matches(MONEY_PATTERN) cap_usd?: string | null;
}

/**
 * One finished unit: the record of gateway.usage.v2. It says what that of gateway.usage.v1 says, without members that have
 * their usual value or repeat another: each that may be absent has a comment with what it then is.
 */
export class UsageRecordV2 {
  /** `use_<uuidv7>`: the id of the usage event. */
  @IsString() id!: string;
  /** `req_<uuidv7>`. Of a batch: of the request that made it, whose units are its lines. */
  @IsString() request_id!: string;
  /** Absent = 0. */
  @IsOptional() @IsInt() @Min(0) unit?: number;
  @IsString() account_id!: string;
  /** Absent = null. */
  @IsOptional() @IsString() org_id?: string | null;
  /** Absent = null. */
  @IsOptional() @IsString() team_id?: string | null;
  /** Creator of the key: member limits are attributed to them. */
  @IsString() member_id!: string;
  @IsString() key_id!: string;
  /** Path the caller used; of a line of a batch /v1/batches. */
  @IsString() endpoint!: string;
  /** Catalogue id that served (or would have). */
  @IsString() model!: string;
  /** Absent = `model`. */
  @IsOptional() @IsString() requested_model?: string;
  /** Provider of the last attempt. Absent = null. */
  @IsOptional() @IsString() provider?: string | null;
  /** Absent = `error` where the outcome is `failed`, `success` otherwise. */
  @IsOptional() @IsIn(['success', 'error']) status?: 'success' | 'error';
  /** Absent = `served`. */
  @IsOptional() @IsIn(['served', 'failed', 'cached', 'cancelled']) outcome?:
    'served' | 'failed' | 'cached' | 'cancelled';
  /** Absent = 200. */
  @IsOptional() @IsInt() http_status?: number;
  /** Absent = null. */
  @IsOptional() @IsString() error_code?: string | null;
  /** Absent = false. */
  @IsOptional() @IsBoolean() stream?: boolean;
  /** A counter that is absent is 0. Absent = none. */
  @IsOptional() @IsObject() usage?: UnitUsage;
  /** Absent = false. */
  @IsOptional() @IsBoolean() usage_estimated?: boolean;
  /** Absent = null: no route was priced. */
  @IsOptional() @ValidateNested() @Type(() => PricedFromV2) priced_from?: PricedFromV2 | null;
  /** Amount that the account pays, in USD. Decimal string. Absent = null: not billed. */
  @IsOptional() @Matches(MONEY_PATTERN) cost_usd?: string | null;
  /** `off`: the platform pays the cost for the account. Absent while billing is on. */
  @IsOptional() @IsIn(['off']) billing?: 'off';
  /** The same at list price. Absent = `cost_usd`. */
  @IsOptional() @Matches(MONEY_PATTERN) list_cost_usd?: string | null;
  /** Absent = none. */
  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => AttemptRecordV2)
  attempts?: AttemptRecordV2[];
  @IsNumber() latency_ms!: number;
  /** Absent = null. */
  @IsOptional() @IsNumber() ttft_ms?: number | null;
  /** ISO 8601 UTC, when the request came in. */
  @IsString() created_at!: string;
  /** Absent = false. */
  @IsOptional() @IsBoolean() routing_fallback?: boolean;
  /** Absent = false. */
  @IsOptional() @IsBoolean() byok_used?: boolean;
  /** Absent = true where the outcome is `cached`, false otherwise. */
  @IsOptional() @IsBoolean() cache_hit?: boolean;
  /** Absent = none. */
  @IsOptional() @IsObject() request_tags?: Record<string, string>;
  /** HMAC of the caller's end-user id. Absent = null. */
  @IsOptional() @IsString() end_user_hash?: string | null;
  /** Contract version of the answer; the newest where the gateway ran it for the caller (background, batches, videos). */
  @IsString() api_version!: string;
  /** Scopes the money counts on, key first. Absent = none. */
  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => LimitReadingV2)
  limits?: LimitReadingV2[];
  /** Budgets whose thresholds the cost may reach. Absent = none. */
  @IsOptional()
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => BudgetReading)
  budgets?: BudgetReading[];
  /** Set for a shadow: a unit that the platform pays, of which no caller knows. */
  @IsOptional() @ValidateNested() @Type(() => ShadowOf) shadow_of?: ShadowOf;
  /** Name of the edge that wrote it. */
  @IsString() producer!: string;
  /** One life of that edge. */
  @IsString() epoch!: string;
  /** Counts the records of its epoch on this topic, gateway.usage.v1 and gateway.rejections.v1 together, from 1 without a hole. */
  @IsInt() @Min(1) seq!: number;
}

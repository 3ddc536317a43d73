import type { BillingMode } from './billing.js';
import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsNumber,
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
import type { Money } from '../catalogue/price-record.js';
import { LIMIT_SCOPES } from '../events/account/limit-scope.js';
import type { ScopeKind, SpendScope } from '../ports/principal.js';
import { AMOUNT_PATTERN } from './keys.js';
import { IsSort } from './page.js';
import type { AttemptView, LimitSeen, PriceLineView } from './request-parts.js';
import { FILTER_VALUES_MAX, UsageFilter } from './usage-filter.js';

const PAGE_ROWS = 50;
const PAGE_MAX = 200;
const OFFSET_MAX = 1_000_000_000;

/** null means what an absent member does, as in the filters. */
export function OrDefault(absent: number | string): PropertyDecorator {
  const read = Transform(({ value }: { value: unknown }) => value ?? absent);
  return (target, name) => [read, IsOptional()].forEach((decorate) => decorate(target, name));
}

/** Filters of usage reads that answer a page. */
export class UsageFilterBody extends UsageFilter {
  /** Rows to answer, 1 to 200. Of the summary: models of by_model. */
  @OrDefault(PAGE_ROWS) @IsInt() @Min(1) @Max(PAGE_MAX) limit: number = PAGE_ROWS;
  @OrDefault(0) @IsInt() @Min(0) @Max(OFFSET_MAX) offset: number = 0;
  /** True to read past the cache of a minute that sessions and admin keys read from, as `?refresh=true`. */
  @IsOptional() @IsBoolean() refresh?: boolean;
}

/** POST /v1/usage. */
export class UsageQueryBody extends UsageFilterBody {
  /** Required for every caller; ignored for API keys. */
  @IsDefined() org_id!: unknown;
}

/** Orders of usage events. */
const EVENT_SORTS = [
  ...['created_at', 'cost_usd', 'latency_ms', 'ttft_ms', 'prompt_tokens', 'completion_tokens'],
] as const;
const LATENCY_MAX_MS = 1_000_000_000;

/** POST /v1/usage/events. */
export class UsageEventsBody extends UsageQueryBody {
  /** `next_cursor` of the page before, in place of offset: costs the same however far the page is. */
  @IsOptional() @IsString() @Matches(/^[\w-]{1,200}$/) cursor?: string | null;
  /** Name that was asked for, where another one served: an alias, a short name, `auto`, the model before a fallback. */
  @IsOptional() @IsString() @MaxLength(256) requested_model?: string | null;
  /**
   * `created_at`, `cost_usd`, `latency_ms`, `ttft_ms`, `prompt_tokens` or `completion_tokens`, with - before it for the
   * largest first; no cursor beside it. As the next three for at most 100,000 requests of the range: 400 for more.
   */
  @IsOptional() @IsSort(EVENT_SORTS) sort?: string | null;
  /** Decimal string of USD: events that cost so much or more. */
  @IsOptional() @Matches(AMOUNT_PATTERN) min_cost_usd?: string | null;
  /** Milliseconds: events that took so long or longer. */
  @IsOptional() @IsNumber() @Min(0) @Max(LATENCY_MAX_MS) min_latency_ms?: number | null;
  /** True for answers in a stream, false for those in one piece. */
  @IsOptional() @IsBoolean() stream?: boolean | null;
}

/** POST /v1/usage/rejections. */
export class RejectionsBody extends UsageFilterBody {
  /** Required for a session. */
  @IsOptional() org_id?: unknown;
  /** Error codes; any of them. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(FILTER_VALUES_MAX)
  @IsString({ each: true })
  @MaxLength(64, { each: true })
  code?: string[] | null;
  /** The rejection of one request, by its X-Request-Id. */
  @IsOptional() @IsString() @MaxLength(128) request_id?: string | null;
}

/** Query of GET /v1/balance, GET /v1/usage/rate-limits and the reads by id. */
export class UsageContextQuery {
  /** Organization that a session looks at. */
  @IsOptional() @IsString() org_id?: string;
  /** Accepted for dashboards: these reads are never cached. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean()
  refresh?: boolean;
}

/** Query of GET /v1/usage/rate-limits. */
export class RateLimitsQuery extends UsageContextQuery {
  /** Key that a session or admin key looks at, with every scope above it; org_id is then optional. */
  @IsOptional() @IsString() @Length(1, 80) key_id?: string;
}

export interface ModelUsage {
  model: string;
  requests: number;
  total_tokens: number;
  cost_usd: Money;
}

/** Sums over the events of a filter; `by_model` alone is paginated. */
export interface UsageSummary {
  total_requests: number;
  successful_requests: number;
  error_requests: number;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  total_cost_usd: Money;
  /** Distinct models, on all pages. */
  by_model_total: number;
  by_model: ModelUsage[];
}

/** One finished unit. The provider that served is never shown. */
export interface UsageEventRecord {
  id: string;
  request_id: string;
  /** Id of the model that served. */
  model: string;
  /** Name that the request had for it: an alias, or an id as it was written. */
  requested_model: string;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  /** null where nothing was billed, for example on a cache hit. */
  cost_usd: Money | null;
  latency_ms: number;
  status: string;
  /** ISO 8601 with offset. */
  created_at: string;
  routing_fallback: boolean;
  request_tags: Record<string, string>;
  key_id: string;
  /** Current label; null where the key has none, or where it cannot be looked up. */
  key_label: string | null;
  /** Owner of the key. */
  user_id: string;
  endpoint: string;
  /** Milliseconds to the first piece of a stream; null for an answer in one piece. */
  ttft_ms: number | null;
  cached_tokens: number;
  /** Price window that was in force; null for the standard price, and where nothing was priced. */
  price_window: string | null;
  /** Instant of the call to the provider, whose price was billed; null where nothing was priced. */
  priced_at: string | null;
}

export interface UsageEventsPage {
  events: UsageEventRecord[];
  total: number;
  limit: number;
  offset: number;
  /** null on the last page. */
  next_cursor: string | null;
}

/** The record of one request, up to 90 days back. */
export interface RequestLookup {
  request_id: string;
  created_at: string;
  endpoint: string;
  model: string | null;
  requested_model: string | null;
  provider: string | null;
  status: string;
  outcome: 'served' | 'failed' | 'rejected' | 'cached' | 'cancelled';
  http_status: number;
  error_code: string | null;
  latency_ms: number | null;
  /** Milliseconds to the first piece of a stream; null for an answer in one piece. */
  ttft_ms: number | null;
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  cost_usd: Money | null;
  byok_used: boolean;
  routing_fallback: boolean;
  cache_hit: boolean;
  /** A count that the provider did not report was estimated for the bill; answers show it as 0. */
  usage_estimated: boolean;
  attempts: AttemptView[];
  request_tags: Record<string, string>;
  retention_days: number;
  key_id: string;
  key_label: string | null;
  /** Adds up to cost_usd; null where nothing was billed or the price list of then cannot be read. */
  price_lines: PriceLineView[] | null;
  /** null for requests of releases that did not keep it. */
  limits_seen: LimitSeen[] | null;
  /** Price window of the first unit that was in force; null for the standard price, and where nothing was priced. */
  price_window: string | null;
  /** Instant of its call to the provider, whose price was billed; null where nothing was priced. */
  priced_at: string | null;
  /** Counters of the provider that have no price here, summed by name; null where there was none. */
  unpriced_counters: Record<string, number> | null;
}

/** One try, with who served it. */
export interface OperatorAttempt extends AttemptView {
  /** Slug. */
  provider: string;
  /** null for requests of releases that did not keep it. */
  upstream_model: string | null;
  /** Id of the platform credential; null where the provider had one, and for an own provider key of the caller. */
  credential_id: string | null;
}

/** The record of one request of whichever organization, up to 90 days back, with who served each attempt. */
export interface OperatorRequestLookup extends Omit<RequestLookup, 'attempts'> {
  attempts: OperatorAttempt[];
}

export interface RateMetric {
  current: number;
  /** null = unlimited. */
  limit: number | null;
  is_default_limit: boolean;
  /** 0 to 100. */
  pct: number;
  resets_in_seconds: number;
}

export interface RateScope {
  rpm: RateMetric;
  rpd: RateMetric;
  tpm: RateMetric;
}

/** Counters as the limit store has them now; null where a scope does not apply to the caller. */
export interface RateLimitState {
  as_of: string;
  scopes: Record<ScopeKind, RateScope | null>;
}

export interface BalanceRecord {
  /** `off`: the deployment bills nobody, and balance and available amount are 0. */
  billing: BillingMode;
  /** Posted, less what is finished and not posted yet. */
  balance_usd: Money;
  reserved_usd: Money;
  available_usd: Money;
  /** Adds up to reserved_usd. */
  reserved_breakdown: { kind: 'inference' | 'realtime' | 'batch' | 'video'; reserved_usd: Money }[];
  updated_at: string;
}

/** POST /v1/admin/credits. Exactly one of the three ids. */
export class CreditBody {
  @IsOptional() @IsString() @Length(1, 128) org_id?: string;
  @IsOptional() @IsString() @Length(1, 128) user_id?: string;
  @IsOptional() @IsString() @Length(1, 128) account_id?: string;
  /** Amount above 0. */
  @Matches(AMOUNT_PATTERN) amount_usd!: Money;
  @IsString() @Length(1, 500) reason!: string;
}

export interface CreditRecord {
  [field: string]: unknown;
  id: string;
  account_id: string;
  org_id: string | null;
  amount_usd: Money;
  balance_after: Money;
  reason: string;
  created_at: string;
}

/** A scope as the internal endpoints name it. */
export class SpendScopeBody {
  @IsIn(LIMIT_SCOPES) kind!: SpendScope;
  @IsString() @Length(1, 512) id!: string;
}

const SCOPES_MAX = 1_000;

/** POST /internal/gate/{account}: the limit store of generation `gen` lacks these posted totals. */
export class SpendLimitBody {
  @IsOptional() @IsString() @Length(1, 256) gen!: string | null;
  @IsArray()
  @ArrayMaxSize(SCOPES_MAX)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => SpendScopeBody)
  scopes!: SpendScopeBody[];
}

/** POST /internal/spend. */
export class SpendBody {
  @IsArray()
  @ArrayMaxSize(SCOPES_MAX)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => SpendScopeBody)
  scopes!: SpendScopeBody[];
  @IsOptional() @IsString() @Length(1, 128) account_id?: string;
}

/** POST /internal/credits: once per kind and source. */
export class InternalCreditBody {
  @IsString() @Length(1, 128) account_id!: string;
  @IsOptional() @IsString() @Length(1, 128) org_id!: string | null;
  @Matches(AMOUNT_PATTERN) amount_usd!: Money;
  @IsIn(['admin_grant']) kind!: 'admin_grant';
  @IsString() @Length(1, 255) source!: string;
}

/** Query of GET /internal/watermarks/{producer}. */
export class WatermarkQuery {
  @IsString() @Length(1, 256) epoch!: string;
}

/** POST /internal/producers/{producer}. */
export class HeardBody {
  @IsString() @Length(1, 256) epoch!: string;
  /** True once all records of the epoch are sent. */
  @IsBoolean() is_ended!: boolean;
}

/** Query of GET /internal/applied/{producer}. */
export class AppliedQuery extends WatermarkQuery {
  @Type(() => Number) @IsInt() @Min(0) above!: number;
}

/** One difference in the books, by name. */
interface BooksDifference {
  [field: string]: unknown;
  kind: string;
  meaning: string;
  account_id: string | null;
  /** `<scope>:<id>`, a transfer, a unit or a producer's epoch; null for the account as a whole. */
  scope: string | null;
  expected: string;
  found: string;
}

/** GET /v1/admin/books: what the proof of the books has found in the process that answers. */
export interface BooksRecord {
  [field: string]: unknown;
  /** A round over all accounts has ended, it proved one at least, and no difference is known. */
  is_proved: boolean;
  round_ended_at: string | null;
  /** Number of accounts proved in the current round, or in the last one until the current one has proved one. */
  accounts_proved: number;
  /** Differences found, at most 1,000. */
  differences: BooksDifference[];
}

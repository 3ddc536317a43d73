import { Transform } from 'class-transformer';
import {
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  MaxLength,
  Matches,
  Max,
  Min,
} from 'class-validator';
import type { Money } from '../catalogue/price-record.js';
import { OrDefault, UsageQueryBody } from './usage.js';

const GRANULARITIES = ['hour', 'day', 'week', 'month'] as const;
export type Granularity = (typeof GRANULARITIES)[number];
export const TIME_ZONE = /^[A-Za-z][\w+-]*(\/[\w+-]+){0,2}$/;
export const UTC = 'UTC';
const TOP = 10;

/** POST /v1/usage/series. Without `since` the last 30 days. */
export class UsageSeriesBody extends UsageQueryBody {
  @IsIn(GRANULARITIES) granularity!: Granularity;
  /** IANA name: where days, weeks (from Monday) and months begin. */
  @OrDefault(UTC) @Matches(TIME_ZONE) time_zone: string = UTC;
  /** `model`, `key`, `member`, `team`, `endpoint`, `status` or `tag:<name>`; absent = one group. */
  @IsOptional() @Matches(/^(model|key|member|team|endpoint|status|tag:[^=]{1,128})$/) group_by?:
    string | null;
  /** Groups shown, dearest first; the others add up to the group `other`. */
  @OrDefault(TOP) @IsInt() @Min(1) @Max(20) top: number = TOP;
  /** Name that was asked for, where another one served, as of the events read: grouped by `model`, the shares of an alias. */
  @IsOptional() @IsString() @MaxLength(256) requested_model?: string | null;
}

/** Sums of the requests of one group. Durations are estimates within a power of two. */
export interface SeriesValues {
  requests: number;
  errors: number;
  prompt_tokens: number;
  completion_tokens: number;
  cached_tokens: number;
  cost_usd: Money;
  latency_p50_ms: number | null;
  latency_p95_ms: number | null;
  /** Median over streams alone. */
  ttft_p50_ms: number | null;
}

interface SeriesGroup {
  /** `all` without group_by, `none` for requests without a team or tag, `other` for the rest. */
  id: string;
  label: string | null;
}

export interface UsageSeries {
  granularity: Granularity;
  time_zone: string;
  since: string;
  until: string;
  /** Groups in the order of their cost; `other` last. */
  groups: SeriesGroup[];
  /** Every bucket of the range, also those without requests; a group that had none there is absent. */
  buckets: { start: string; values: Record<string, SeriesValues> }[];
  /** Sums of the whole range, by group. */
  totals: Record<string, SeriesValues>;
  /** Sum of the whole range and all groups. */
  total: SeriesValues;
  as_of: string;
}

/** Query of GET /v1/usage/spend-trend. */
export class SpendTrendQuery {
  /** Required for every caller; of an API key, its own organization is meant whatever it says. */
  @IsDefined() org_id!: unknown;
  /** A team that the caller is in; owners and admins name any. */
  @IsOptional() @IsString() @Length(1, 128) team_id?: string;
  /** Length of a bucket. */
  @IsOptional() @IsIn(GRANULARITIES) granularity: Granularity = 'day';
  /** True to read past the cache, as `refresh`. */
  @IsOptional() @ToFlag() @IsBoolean() force_refresh?: boolean;
  /** True to read past the cache of a minute. */
  @IsOptional() @ToFlag() @IsBoolean() refresh?: boolean;
}

export interface SpendTrend {
  org_id: string | null;
  team_id: string | null;
  granularity: Granularity;
  since: string;
  until: string;
  buckets: {
    start: string;
    spend_usd: Money;
    requests: number;
    /** Mean of this bucket and the two before it, as far as the window has them. */
    moving_average_usd: Money;
  }[];
  total_usd: Money;
  as_of: string;
}

/** Query of reads that take their filters in the body. */
export class UsageRefreshQuery {
  /** True to read past the cache of a minute that sessions and admin keys read from. */
  @IsOptional() @ToFlag() @IsBoolean() refresh?: boolean;
}

function ToFlag(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    value === 'true' ? true : value === 'false' ? false : value,
  );
}

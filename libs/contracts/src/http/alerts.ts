import { Transform, Type } from 'class-transformer';
import {
  IsBoolean,
  IsIn,
  IsInt,
  IsISO8601,
  IsNumber,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateIf,
} from 'class-validator';
import { ACCOUNT_EVENT_TYPES, type AccountEventType } from '../events/account-event.js';

const CHANNEL_TYPES = ['webhook', 'email'] as const;
export type ChannelType = (typeof CHANNEL_TYPES)[number];

const DELIVERY_STATES = [
  'pending',
  'sending',
  'delivered',
  'retrying',
  'exhausted',
  'blocked',
  'cancelled',
] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

const DESTINATION_MAX = 2_048;
const ID_MAX = 100;
const USD_PATTERN = /^-?\d{1,12}(\.\d{1,12})?$/;

/** null says what absence does not: it is no boolean and no text. */
function IfSent(): PropertyDecorator {
  return ValidateIf((_body: object, value: unknown) => value !== undefined);
}

/** A JSON number as decimal text; what has an exponent is left for the pattern to refuse. */
function UsdText(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) => (typeof value === 'number' ? String(value) : value));
}

/** Organization whose channels and policies are read; optional for members of one organization and for admin keys. */
export class AlertsQuery {
  /** The organization; may be left out by who is in one only, and by an admin key. */
  @IsOptional() @IsString() @Length(1, ID_MAX) org_id?: string;
}

/** Body of POST /alerts/channels. */
export class CreateChannelBody {
  @IsIn(CHANNEL_TYPES) channel_type!: ChannelType;
  /** An http(s) URL on the public Internet, or an e-mail address. */
  @IsString() @Length(1, DESTINATION_MAX) destination!: string;
  /** Default true. */
  @IfSent() @IsBoolean() is_enabled?: boolean;
  @IsOptional() @IsString() @Length(1, ID_MAX) org_id?: string;
}

/** Body of PATCH /alerts/channels/{id}: what is absent stays as it is. */
export class UpdateChannelBody {
  @IfSent() @IsString() @Length(1, DESTINATION_MAX) destination?: string;
  @IfSent() @IsBoolean() is_enabled?: boolean;
}

class ThresholdsBody {
  /** Threshold of balance.low, above 0, number or decimal text: required there, refused for every other type. */
  @IsOptional()
  @UsdText()
  @Matches(USD_PATTERN, { message: 'threshold_usd must be an amount of USD' })
  threshold_usd?: string | null;
  /** 1 to 100: for spend_cap.approaching and rate_limit.threshold, where it is required, and for nothing else. */
  @IsOptional() @IsNumber({ maxDecimalPlaces: 4 }) threshold_pct?: number | null;
}

/** Body of POST /alerts/policies. */
export class CreatePolicyBody extends ThresholdsBody {
  @IsString() @Length(1, ID_MAX) channel_id!: string;
  @IsIn(ACCOUNT_EVENT_TYPES) alert_type!: AccountEventType;
  /** Default true. */
  @IfSent() @IsBoolean() is_enabled?: boolean;
  @IsOptional() @IsString() @Length(1, ID_MAX) org_id?: string;
}

/** Body of PATCH /alerts/policies/{id}: what is absent stays as it is. */
export class UpdatePolicyBody extends ThresholdsBody {
  @IfSent() @IsString() @Length(1, ID_MAX) channel_id?: string;
  @IfSent() @IsBoolean() is_enabled?: boolean;
}

/** Query of GET /alerts/deliveries. */
export class DeliveriesQuery extends AlertsQuery {
  /** Deliveries of one channel only. */
  @IsOptional() @IsString() @Length(1, ID_MAX) channel_id?: string;
  /** One of the event types, or `channel.test`. */
  @IsOptional() @IsIn([...ACCOUNT_EVENT_TYPES, 'channel.test']) event_type?: string;
  /** Deliveries in this state only. */
  @IsOptional() @IsIn(DELIVERY_STATES) status?: DeliveryState;
  /** ISO 8601: deliveries made from then on. */
  @IsOptional() @IsISO8601({ strict: true }) since?: string;
  /** ISO 8601: deliveries made until then; a bare date covers its day. */
  @IsOptional() @IsISO8601({ strict: true }) until?: string;
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
  /** Number of rows to skip. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1_000_000) offset: number = 0;
}

/** Query of GET and POST /alerts/confirm. */
export class ConfirmQuery {
  /** The token of the link. */
  @IsString() @Length(1, 200) token!: string;
}

export interface ChannelRecord {
  id: string;
  org_id: string;
  channel_type: ChannelType;
  destination: string;
  is_enabled: boolean;
  /** Instant at which the recipient of an e-mail channel confirmed it. */
  verified_at: string | null;
  /**
   * Reason why deliveries stopped by themselves: `failing` for five days, or `gone` (410). Null where a person stopped
   * them or nothing did.
   */
  disabled_reason: 'failing' | 'gone' | null;
  created_at: string;
  updated_at: string;
}

/** Outcome of the newest attempt to reach a channel. */
export interface ChannelResult {
  delivery_id: string;
  is_delivered: boolean;
  /** HTTP status of the answer; null where there was none. */
  http_status: number | null;
  error: string | null;
  at: string;
}

/** A channel of the list, with how its deliveries go. */
export interface ListedChannel extends ChannelRecord {
  /** Null where nothing was sent yet. Tests and redeliveries count as well. */
  last_result: ChannelResult | null;
  /** Time of the first failure since the last success, tests and redeliveries aside; null where none failed since. */
  failing_since: string | null;
}

/** Answer of POST /alerts/channels: the record, and the signing secret of a webhook once. */
export interface CreatedChannel extends ChannelRecord {
  /** Absent for an e-mail channel, and where an Idempotency-Key is sent again. */
  signing_secret?: string;
}

export interface PolicyRecord {
  id: string;
  org_id: string;
  channel_id: string;
  alert_type: AccountEventType;
  is_enabled: boolean;
  threshold_usd: number | null;
  threshold_pct: number | null;
  created_at: string;
  updated_at: string;
}

export interface AlertsRecord {
  channels: ListedChannel[];
  policies: PolicyRecord[];
}

export interface DeliveryRecord {
  id: string;
  event_id: string;
  event_type: string;
  channel_id: string;
  channel_type: ChannelType;
  destination: string;
  status: DeliveryState;
  /** Number of times that it was sent. */
  attempts: number;
  /** Instant of the next attempt; null where there is none. */
  next_attempt_at: string | null;
  /** Status of the last attempt. */
  http_status: number | null;
  error: string | null;
  /** The delivery that a person had sent again. */
  redelivery_of: string | null;
  created_at: string;
  updated_at: string;
}

/** One sending of a delivery. `id` is what Service-Delivery-Id said. */
export interface DeliveryAttemptRecord {
  id: string;
  n: number;
  status: 'sending' | 'delivered' | 'failed' | 'blocked' | 'lost';
  started_at: string;
  ended_at: string | null;
  destination: string;
  http_status: number | null;
  error: string | null;
  request: { headers: Record<string, string> } | null;
  /** The first 16 KiB, scrubbed. */
  response: { headers: Record<string, string>; body: string; is_cut: boolean } | null;
}

export interface DeliveryDetail extends DeliveryRecord {
  /** Body as it is sent, to the byte. */
  request_body: string;
  attempt_log: DeliveryAttemptRecord[];
}

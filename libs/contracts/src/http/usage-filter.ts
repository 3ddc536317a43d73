import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsISO8601,
  IsOptional,
  IsString,
  Matches,
  MaxLength,
} from 'class-validator';

export const FILTER_VALUES_MAX = 100;
const OUTCOMES = ['served', 'failed', 'cached', 'cancelled'];

/** Selection of the events that a read covers. A bare date in `since` or `until` covers the whole UTC day. */
export class UsageFilter {
  /** ISO 8601: events from then on. */
  @IsOptional() @IsISO8601({ strict: true }) since?: string | null;
  /** ISO 8601: events up to and with then. */
  @IsOptional() @IsISO8601({ strict: true }) until?: string | null;
  /** Catalogue ids; any of them. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(FILTER_VALUES_MAX)
  @IsString({ each: true })
  @MaxLength(256, { each: true })
  model?: string[] | null;
  /** `success`, `error`; any of them. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(FILTER_VALUES_MAX)
  @IsString({ each: true })
  @MaxLength(64, { each: true })
  status?: string[] | null;
  /**
   * Organization of sessions and admin keys, as the next three. Ignored for API keys, which see their own usage alone.
   */
  @IsOptional() @IsString() @MaxLength(128) team_id?: string | null;
  /** One member's usage only, by user id. */
  @IsOptional() @IsString() @MaxLength(128) member_id?: string | null;
  /** The same as `member_id`: whose keys made the requests. */
  @IsOptional() @IsString() @MaxLength(128) user_id?: string | null;
  @IsOptional() @IsString() @MaxLength(128) key_id?: string | null;
  /** The path that was called, for example /v1/chat/completions. */
  @IsOptional() @IsString() @MaxLength(256) endpoint?: string | null;
  /** `served`, `failed`, `cached`, `cancelled`; any of them. */
  @IsOptional() @IsArray() @ArrayMaxSize(10) @IsIn(OUTCOMES, { each: true }) outcome?: string[] | null;
  /** `name=value` of a request tag, or `name` for any value. */
  @IsOptional() @IsString() @Matches(/^[^=]{1,128}(=[^]{0,512})?$/) tag?: string | null;
}

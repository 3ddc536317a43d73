import { Transform } from 'class-transformer';
import { IsDefined, IsOptional, Matches } from 'class-validator';
import { OrDefault, UsageQueryBody } from './usage.js';
import { UsageFilter } from './usage-filter.js';
import { TIME_ZONE, UTC } from './usage-series.js';

/** Query of GET /v1/usage/events/export: the filters of the events; lists are repeated members. */
export class UsageExportQuery extends UsageFilter {
  /** Required. */
  @IsDefined() org_id!: unknown;
  /** Catalogue ids; any of them. */
  @AsList() override model: string[] | null = null;
  /** `success`, `error`; any of them. */
  @AsList() override status: string[] | null = null;
  /** Zone in which `created_at` is written, an IANA name. */
  @AsList() override outcome: string[] | null = null;
  /** IANA name: in which `created_at` is written. */
  @IsOptional() @Matches(TIME_ZONE) time_zone: string = UTC;
}

/** POST /v1/usage/exports: the filters of the events. */
export class UsageExportBody extends UsageQueryBody {
  /** IANA name: in which `created_at` is written. */
  @OrDefault(UTC) @Matches(TIME_ZONE) time_zone: string = UTC;
}

export interface UsageExportRecord {
  /** Path of the CSV: answers once, within 60 seconds, without a credential. */
  url: string;
  /** Number of rows at this moment. */
  rows: number;
  expires_at: string;
}

function AsList(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? [value] : value));
}

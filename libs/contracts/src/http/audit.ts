import { IsISO8601, IsOptional, IsString, Length } from 'class-validator';
import { CursorPageQuery } from './page.js';

/** Query of GET /v1/orgs/{id}/audit-log. */
export class ListAuditQuery extends CursorPageQuery {
  /** The user id or key id of who did it. */
  @IsOptional() @IsString() @Length(1, 100) actor?: string;
  /** Action of the entry, for example `api_key.create`. */
  @IsOptional() @IsString() @Length(1, 100) action?: string;
  /** ISO 8601; from here on. */
  @IsOptional() @IsISO8601({ strict: true }) since?: string;
  /** ISO 8601; up to here. A bare date covers the whole day. */
  @IsOptional() @IsISO8601({ strict: true }) until?: string;
}

/** One change: who did what to what, from where. Values are of named fields that hold no secret. */
export interface AuditRecord {
  id: string;
  created_at: string;
  /** User id, key id, or `system`. */
  actor: string;
  actor_kind: 'session' | 'admin_key' | 'key' | 'system';
  /** Address of a person; null for every other actor. */
  actor_email: string | null;
  action: string;
  target: string;
  target_type: string;
  /** Name, label or address of the target; null for what is gone, has none, or is kept by another service. */
  target_name: string | null;
  ip: string;
  changed_fields: string[];
  /** Values before and after, of keys, members, teams, budgets and the organization; long ones are left out. */
  changes: AuditedValue[];
  request_id: string;
}

/** A field of a change; null = not set. */
interface AuditedValue {
  field: string;
  before: unknown;
  after: unknown;
}

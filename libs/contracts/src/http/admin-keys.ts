import {
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsEmail,
  IsIn,
  IsISO8601,
  IsOptional,
  IsString,
  Length,
  Matches,
  ValidateIf,
} from 'class-validator';
import { IsOneLine } from './one-line.js';
import { CursorPageQuery } from './page.js';

/** Actions that an admin key may be allowed in its organization. */
const ADMIN_KEY_SCOPES = [
  'keys:read',
  'keys:write',
  'usage:read',
  'members:read',
  'alerts:read',
  'alerts:write',
] as const;

export type AdminKeyScope = (typeof ADMIN_KEY_SCOPES)[number];

/** Body of POST /v1/admin-keys. */
export class CreateAdminKeyBody {
  @IsString() @Length(1, 64) org_id!: string;
  @IsOptional() @IsString() @Length(1, 200) label?: string | null;
  @IsArray() @ArrayMinSize(1) @ArrayUnique() @IsIn(ADMIN_KEY_SCOPES, { each: true }) scopes!: AdminKeyScope[];
  /** ISO 8601 with offset; null = never. */
  @IsOptional()
  @IsISO8601({ strict: true, strictSeparator: true })
  @Matches(/T.*(?:Z|[+-]\d{2}:?\d{2})$/, { message: 'expires_at must be an ISO 8601 time with offset' })
  expires_at?: string | null;
}

/** Query of GET /v1/admin-keys. */
export class ListAdminKeysQuery extends CursorPageQuery {
  /** One organization; absent = all in which the caller is an owner or admin. */
  @IsOptional() @IsString() @Length(1, 64) org_id?: string;
}

export interface AdminKeyRecord {
  id: string;
  label: string | null;
  org_id: string;
  masked_key: string;
  scopes: string[];
  created_by: string;
  expires_at: string | null;
  last_used_at: string | null;
  created_at: string;
}

/** Answer of POST /v1/admin-keys: the record, and the plaintext once. */
export interface CreatedAdminKey extends AdminKeyRecord {
  /** Absent where an Idempotency-Key is sent again. */
  key?: string;
}

/** Body of POST /v1/admin/super-admins: one of the two. */
export class GrantSuperAdminBody {
  @ValidateIf((body: GrantSuperAdminBody) => body.user_id !== undefined || body.email === undefined)
  @IsString()
  @Length(1, 64)
  user_id?: string;
  @ValidateIf((body: GrantSuperAdminBody) => body.email !== undefined)
  @IsEmail()
  @IsOneLine()
  @Length(3, 254)
  email?: string;
}

export interface SuperAdminRecord {
  user_id: string;
  email: string;
  granted_at: string;
}

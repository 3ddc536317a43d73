import type { BillingMode } from './billing.js';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsEmail,
  IsIn,
  IsOptional,
  IsString,
  Length,
  Matches,
  ValidateIf,
} from 'class-validator';
import type { KeyPrincipal, OrgRole } from '../ports/principal.js';
import { IsName, IsOneLine } from './one-line.js';

/** Body of POST /auth/login. */
export class LoginBody {
  @IsEmail() @IsOneLine() @Length(3, 254) email!: string;
  @IsString() @Length(1, 1024) password!: string;
}

/** Body of POST /auth/refresh and /auth/logout; browsers send the cookie instead. */
export class RefreshBody {
  @IsOptional() @IsString() @Length(1, 512) refresh_token?: string | null;
}

/** Body of POST /internal/principals/resolve: what a caller presented. */
export class ResolvePrincipalBody {
  @IsIn(['key', 'admin_key', 'session']) kind!: 'key' | 'admin_key' | 'session';
  /** SHA-256 of the whole secret, lower-case hex; for keys. */
  @ValidateIf((body: ResolvePrincipalBody) => body.kind !== 'session')
  @Matches(/^[0-9a-f]{64}$/)
  digest?: string;
  /** The session token; for sessions. */
  @ValidateIf((body: ResolvePrincipalBody) => body.kind === 'session')
  @IsString()
  @Length(1, 4096)
  token?: string;
}

/** Keys of one POST /internal/principals/keys. */
export const RESOLVED_KEYS_MAX = 64;

/** Body of POST /internal/principals/keys: SHA-256 of each secret, lower-case hex. */
export class ResolveKeysBody {
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(RESOLVED_KEYS_MAX)
  @Matches(/^[0-9a-f]{64}$/, { each: true })
  digests!: string[];
  /** True for keys that an edge fetches before anybody uses them. */
  @IsOptional() @IsBoolean() is_ahead?: boolean;
}

/** Its answer, in the order of the body; null = unknown, expired or rotated out. The ETag is that of a later resolve. */
export interface ResolvedKeys {
  keys: ({ principal: KeyPrincipal; etag: string } | null)[];
}

/** Body of PATCH /auth/me: what is absent stays as it is. */
export class UpdateMeBody {
  @ValidateIf((body: UpdateMeBody) => body.name !== undefined)
  @IsString()
  @Length(1, 200)
  @IsName()
  name?: string;
  /** IANA name; null = the browser's. */
  @IsOptional() @IsString() @Length(1, 64) time_zone?: string | null;
  /** BCP 47; null = the browser's. */
  @IsOptional() @IsString() @Length(2, 35) locale?: string | null;
}

/** Body of POST /internal/principals/by-id: a key of one of these accounts. */
export class ReadKeyPrincipalBody {
  @IsString() @Length(1, 80) key_id!: string;
  @IsArray()
  @ArrayMaxSize(1_000)
  @IsString({ each: true })
  @Length(1, 80, { each: true })
  account_ids!: string[];
}

/** Body of POST /auth/password/change. */
export class ChangePasswordBody {
  @IsString() @Length(1, 1024) current_password!: string;
  @IsString() @Length(1, 1024) new_password!: string;
}

/** Body of POST /auth/password/forgot. */
export class ForgotPasswordBody {
  @IsEmail() @IsOneLine() @Length(3, 254) email!: string;
}

/** Body of POST /auth/password/reset. */
export class ResetPasswordBody {
  @IsString() @Length(1, 512) token!: string;
  @IsString() @Length(1, 1024) password!: string;
}

export interface UserRecord {
  id: string;
  email: string;
  name: string;
  time_zone: string | null;
  locale: string | null;
}

/** A login of one's own that lives. */
export interface OwnSessionRecord {
  id: string;
  created_at: string;
  last_used_at: string;
  ip: string;
  user_agent: string;
  /** True for the session of this very request. */
  current: boolean;
}

/** Answer of GET /auth/options: how people can log in. */
export interface AuthOptionsRecord {
  password: boolean;
  /** The identity provider, as the button names it; null where none is set up. */
  oidc: { name: string } | null;
  /** `off`: the deployment has no balances, payments and coupons. */
  billing: BillingMode;
}

/** Answer of POST /auth/login and /auth/refresh. */
export interface SessionRecord {
  /** JWT, EdDSA, `typ at+jwt`, 15 minutes. */
  token: string;
  token_type: 'Bearer';
  /** ISO 8601. */
  expires_at: string;
  user: UserRecord;
}

/** Answer of GET /auth/me. */
export interface MeRecord {
  user: UserRecord;
  memberships: { org_id: string; role: OrgRole; teams: string[] }[];
  is_super_admin: boolean;
}

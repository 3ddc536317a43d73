import { IsEmail, IsIn, IsOptional, IsString, Length, ValidateIf } from 'class-validator';
import { IsName, IsOneLine } from './one-line.js';
import type { OrgRole } from '../ports/principal.js';
import { CursorPageQuery, IsSort } from './page.js';
import { ScopeLimitsBody, type ScopeLimitsRecord } from './orgs.js';

const ROLES: readonly OrgRole[] = ['owner', 'admin', 'member'];
/** Orders of the members of an organization. */
const MEMBER_SORTS = ['name', 'role', 'spend_cap_usd', 'created_at'] as const;
/** An organization has exactly one owner, so nobody is invited as one. */
const INVITED_ROLES = ['admin', 'member'] as const;

/** Body of PATCH /v1/orgs/{id}/members/{user_id}: what is absent stays as it is. */
export class UpdateMemberBody extends ScopeLimitsBody {
  /** `owner`: the owner hands the organization on and becomes an admin. */
  @ValidateIf((body: UpdateMemberBody) => body.role !== undefined) @IsIn(ROLES) role?: OrgRole;
}

/** Query of GET /v1/orgs/{id}/members. */
export class ListMembersQuery extends CursorPageQuery {
  /** Part of a name or an email address. */
  @IsOptional() @IsString() @Length(1, 200) q?: string;
  /** Members with this role only. */
  @IsOptional() @IsIn(ROLES) role?: OrgRole;
  /** `name`, `role`, `spend_cap_usd` or `created_at`, with - before it for the other direction; no cursor beside it. */
  @IsOptional() @IsSort(MEMBER_SORTS) sort?: string;
}

export interface MemberRecord extends ScopeLimitsRecord {
  org_id: string;
  user_id: string;
  email: string;
  name: string;
  role: OrgRole;
  /** Ids of the organization's teams that the person is in. */
  teams: string[];
  /** Instant at which the person joined. */
  created_at: string;
}

/** Body of POST /v1/orgs/{id}/invitations. */
export class CreateInvitationBody {
  @IsEmail() @IsOneLine() @Length(3, 254) email!: string;
  @IsIn(INVITED_ROLES) role!: (typeof INVITED_ROLES)[number];
}

export interface InvitationRecord {
  id: string;
  org_id: string;
  email: string;
  role: OrgRole;
  /** The user id of who invited, or the id of an admin key. */
  created_by: string;
  created_at: string;
  expires_at: string;
}

/** Body of POST /auth/invitations/accept. */
export class AcceptInvitationBody {
  @IsString() @Length(1, 512) token!: string;
  /** Name and password, asked of people who have no account yet. */
  @IsOptional() @IsString() @Length(1, 200) @IsName() name?: string | null;
  /** The one they choose; of a known person the one they have. */
  @IsString() @Length(1, 1024) password!: string;
}

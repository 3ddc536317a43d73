import { IsOptional, IsString, Length, ValidateIf } from 'class-validator';
import { CursorPageQuery, IsSort } from './page.js';
import { ScopeLimitsBody, type ScopeLimitsRecord } from './orgs.js';

/** Body of POST /v1/orgs/{id}/teams. */
export class CreateTeamBody extends ScopeLimitsBody {
  @IsString() @Length(1, 200) name!: string;
}

/** Body of PATCH /v1/teams/{id}: what is absent stays as it is. */
export class UpdateTeamBody extends ScopeLimitsBody {
  @ValidateIf((body: UpdateTeamBody) => body.name !== undefined) @IsString() @Length(1, 200) name?: string;
}

/** Orders of the teams of an organization. */
const TEAM_SORTS = ['name', 'rpm_limit', 'spend_cap_usd', 'created_at'] as const;

/** Query of GET /v1/orgs/{id}/teams. */
export class ListTeamsQuery extends CursorPageQuery {
  /** Part of a name. */
  @IsOptional() @IsString() @Length(1, 200) q?: string;
  /** `name`, `rpm_limit`, `spend_cap_usd` or `created_at`, with - before it for the other direction; no cursor beside it. */
  @IsOptional() @IsSort(TEAM_SORTS) sort?: string;
}

export interface TeamRecord extends ScopeLimitsRecord {
  id: string;
  org_id: string;
  name: string;
  created_at: string;
  updated_at: string;
}

export interface TeamMemberRecord extends ScopeLimitsRecord {
  team_id: string;
  user_id: string;
  email: string;
  name: string;
  created_at: string;
}

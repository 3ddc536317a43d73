import { IsIn, IsString } from 'class-validator';
import type { OrgRole } from '../../ports/principal.js';

const ROLES: readonly OrgRole[] = ['owner', 'admin', 'member'];

class MemberFields {
  @IsString() user_id!: string;
  @IsIn(ROLES) role!: OrgRole;
}

/** A member joins. */
export class MemberAdded extends MemberFields {}

/** A member is removed or leaves. */
export class MemberRemoved extends MemberFields {}

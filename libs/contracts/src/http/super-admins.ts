import { IsEmail, IsString, Length, ValidateIf } from 'class-validator';
import { IsOneLine } from './one-line.js';

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

import { IsIn, IsOptional, IsString } from 'class-validator';
import type { SpendScope } from '../../ports/principal.js';

export const LIMIT_SCOPES: readonly SpendScope[] = [
  'key',
  'team_member',
  'member',
  'team',
  'org',
  'tag',
  'end_user',
  'provider',
];

/** The scope whose cap or limit an event is about. */
export class LimitScope {
  @IsIn(LIMIT_SCOPES) scope!: SpendScope;
  /** Id of the key, user, team or organization; of the user for team_member. Of a tag `name=value`; of an end user the id of the budget. */
  @IsString() scope_id!: string;
  /** The same as scope_id for a key, null for every other scope. */
  @IsOptional() @IsString() key_id!: string | null;
  /** Set for the scope team_member alone. */
  @IsOptional() @IsString() team_id?: string;
}

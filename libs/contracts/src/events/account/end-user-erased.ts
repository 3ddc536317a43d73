import { IsString, Matches } from 'class-validator';

/** An end user of the account is to be forgotten, as far as they were known until then. Never delivered. */
export class EndUserErased {
  /** HMAC of the end user's id under the account's key. */
  @IsString() end_user_hash!: string;
  /** ISO 8601 UTC. */
  @Matches(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/) erased_at!: string;
}

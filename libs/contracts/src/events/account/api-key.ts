import { IsOptional, IsString } from 'class-validator';

/** What the events of an API key say. */
class ApiKeyFields {
  @IsString() key_id!: string;
  @IsOptional() @IsString() label!: string | null;
  /** For display; the secret is in no event. */
  @IsString() masked_key!: string;
}

/** A key is created in the org. */
export class ApiKeyCreated extends ApiKeyFields {}

/** A key is revoked. */
export class ApiKeyRevoked extends ApiKeyFields {}

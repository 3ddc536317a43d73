import { IsOptional, IsString } from 'class-validator';

/** Fields of the events of an API key. */
class ApiKeyFields {
  @IsString() key_id!: string;
  @IsOptional() @IsString() label!: string | null;
  /** Shown to people; the secret is in no event. */
  @IsString() masked_key!: string;
}

/** A key is created in the org. */
export class ApiKeyCreated extends ApiKeyFields {}

/** A key is revoked. */
export class ApiKeyRevoked extends ApiKeyFields {}

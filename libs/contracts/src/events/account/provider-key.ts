import { IsBoolean, IsOptional, IsString } from 'class-validator';

class ProviderKeyFields {
  @IsString() pk_id!: string;
  @IsString() provider!: string;
  @IsOptional() @IsString() label!: string | null;
}

/** A provider key of the customer's own (BYOK) is registered. */
export class ProviderKeyAdded extends ProviderKeyFields {}

/** A provider key is deleted. */
export class ProviderKeyRemoved extends ProviderKeyFields {}

/** A provider refused a provider key. */
export class ByokKeyFailed extends ProviderKeyFields {
  @IsString() model!: string;
  @IsString() error_code!: string;
  @IsOptional() @IsString() provider_code!: string | null;
  /** Scrubbed words of the provider. */
  @IsString() message!: string;
  @IsString() request_id!: string;
  /** The request was served on the service's own credentials. */
  @IsBoolean() served_on_platform!: boolean;
}

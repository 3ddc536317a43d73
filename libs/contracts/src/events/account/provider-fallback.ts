import { IsString } from 'class-validator';

/** A request was served by another provider than the one asked for: at most once in 5 minutes a pair and model. */
export class ProviderFallback {
  @IsString() model!: string;
  @IsString() requested_provider!: string;
  @IsString() served_provider!: string;
  /** Error code of the provider that was asked first. */
  @IsString() reason!: string;
  @IsString() request_id!: string;
}

import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { CREDENTIAL_STATES } from '../ports/provider-key-vault.js';
import { MODEL_PATTERN } from './keys.js';
import type { ProviderKeyTest } from './provider-keys.js';

class PlatformCredentialFieldsBody {
  /** Share of the requests among those that are ready; 0 = serves where no other can. */
  @ValidateIf((body: PlatformCredentialFieldsBody) => body.weight !== undefined)
  @IsInt()
  @Min(0)
  @Max(1_000)
  weight?: number;
  /** Exact ids or `<brand>/*` that it may serve; null = every model of its provider. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(500)
  @ArrayUnique()
  @Matches(MODEL_PATTERN, { each: true, message: 'each value must be a model id or <brand>/*' })
  allowed_models?: string[] | null;
  /** Address that it is used at; null = the deployment's for the provider. */
  @IsOptional()
  @Matches(/^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/, {
    message:
      'base_url must be an address that begins with http:// or https://, without user, query and fragment',
  })
  @MaxLength(500)
  base_url?: string | null;
  @ValidateIf((body: PlatformCredentialFieldsBody) => body.is_enabled !== undefined)
  @IsBoolean()
  is_enabled?: boolean;
}

/** Body of POST /v1/admin/providers/{slug}/credentials. */
export class CreatePlatformCredentialBody extends PlatformCredentialFieldsBody {
  /** Human name. */
  @IsString() @Length(1, 100) label!: string;
  /** The shapes of provider keys. Write only. */
  @IsDefined() credentials!: unknown;
  /** Saves the credential without a call of the provider. */
  @ValidateIf((body: CreatePlatformCredentialBody) => body.skip_test !== undefined)
  @IsBoolean()
  skip_test?: boolean;
}

/** Body of PATCH /v1/admin/providers/{slug}/credentials/{id}: what is absent stays as it is. */
export class UpdatePlatformCredentialBody extends PlatformCredentialFieldsBody {
  @ValidateIf((body: UpdatePlatformCredentialBody) => body.label !== undefined)
  @IsString()
  @Length(1, 100)
  label?: string;
}

/** Body of POST /v1/admin/providers/{slug}/credentials/{id}/rotate. */
export class RotatePlatformCredentialBody {
  /** Replaces the whole credential. Write only. */
  @IsDefined() credentials!: unknown;
  /** Saves the credential without a call of the provider. */
  @ValidateIf((body: RotatePlatformCredentialBody) => body.skip_test !== undefined)
  @IsBoolean()
  skip_test?: boolean;
}

/** Query of GET /v1/admin/providers/{slug}/credentials. */
export class ListPlatformCredentialsQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
  /** Number of rows to skip. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1_000_000) offset: number = 0;
}

/** One of the platform's credentials at a provider. It never holds the secret. */
export interface PlatformCredentialRecord {
  /** `cred_…`; `cred_env_<slug>` for the one in the edges' environment. */
  id: string;
  provider: string;
  label: string;
  source: 'stored' | 'environment';
  /** The only trace of the credential. */
  masked_credential: string;
  weight: number;
  /** null = every model of the provider. */
  allowed_models: string[] | null;
  /** null = the deployment's address for the provider. */
  base_url: string | null;
  is_enabled: boolean;
  status: 'ready' | 'cooling' | 'refused' | 'out_of_quota' | 'paused';
  /** ISO 8601; no request of a caller uses it before. */
  cooldown_until: string | null;
  /** Last failure that was the credential's own. */
  last_error: PlatformCredentialError | null;
  /** Right to about a second. */
  last_used_at: string | null;
  requests_24h: number;
  /** null for the one of the environment. */
  created_by: string | null;
  created_at: string;
  updated_at: string;
}

export interface PlatformCredentialError {
  code: string;
  provider_code: string | null;
  http_status: number | null;
  /** ISO 8601. */
  at: string;
}

/** Answer of a create or a rotation: the record, and its test call; null where none was made. */
export interface TestedPlatformCredential extends PlatformCredentialRecord {
  test: ProviderKeyTest | null;
}

/** Body of POST /internal/platform-credentials/open. */
export class OpenPlatformCredentialBody {
  @IsString() @Length(1, 80) id!: string;
  @IsInt() @Min(1) version!: number;
}

class EnvironmentCredentialBody {
  @IsString() @Length(1, 80) provider!: string;
  @IsString() @Length(1, 200) variable!: string;
  @IsString() @Length(1, 300) masked!: string;
}

class CredentialStateErrorBody {
  @IsString() @Length(1, 80) code!: string;
  @IsOptional() @IsString() @Length(1, 80) providerCode!: string | null;
  @IsOptional() @IsInt() httpStatus!: number | null;
}

class CredentialStateBody {
  @IsString() @Length(1, 80) id!: string;
  @IsIn(CREDENTIAL_STATES) status!: (typeof CREDENTIAL_STATES)[number];
  @IsOptional() @IsNumber() untilMs!: number | null;
  @IsNumber() atMs!: number;
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => CredentialStateErrorBody)
  error!: CredentialStateErrorBody | null;
}

class CredentialUseBody {
  @IsString() @Length(1, 80) id!: string;
  @IsInt() @Min(0) requests!: number;
  @IsNumber() lastUsedMs!: number;
}

/** Body of POST /internal/platform-credentials/sync. */
export class CredentialReportBody {
  @IsArray()
  @ArrayMaxSize(500)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => EnvironmentCredentialBody)
  environment!: EnvironmentCredentialBody[];
  @IsArray()
  @ArrayMaxSize(10_000)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => CredentialStateBody)
  states!: CredentialStateBody[];
  @IsArray()
  @ArrayMaxSize(10_000)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => CredentialUseBody)
  uses!: CredentialUseBody[];
}

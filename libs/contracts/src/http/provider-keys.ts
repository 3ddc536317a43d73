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

const SLUG_PATTERN = /^[a-z0-9][a-z0-9-]{0,63}$/;
const ID_PATTERN = /^[a-z]{2,8}_[0-9A-Za-z-]{1,64}$/;

class ProviderKeyFieldsBody {
  /** Human name. */
  @IsOptional() @IsString() @MaxLength(200) label?: string | null;
  /** Exact ids or `<brand>/*` that the key may serve; null = every model of its provider. */
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(500)
  @ArrayUnique()
  @Matches(MODEL_PATTERN, { each: true, message: 'each value must be a model id or <brand>/*' })
  allowed_models?: string[] | null;
  /** May a request that this key does not serve run on the service's own credentials, billed to the balance? */
  @ValidateIf((body: ProviderKeyFieldsBody) => body.allow_platform_fallback !== undefined)
  @IsBoolean()
  allow_platform_fallback?: boolean;
  @ValidateIf((body: ProviderKeyFieldsBody) => body.is_enabled !== undefined)
  @IsBoolean()
  is_enabled?: boolean;
}

/** Body of POST /v1/provider-keys. */
export class CreateProviderKeyBody extends ProviderKeyFieldsBody {
  /** Slug of the provider. */
  @Matches(SLUG_PATTERN) provider!: string;
  /**
   * {api_key}; azure {api_key, endpoint, api_version}; amazon-bedrock also {access_key_id, secret_access_key,
   * session_token?, region}; google-vertex also {service_account_json, project, location}. A bare text is an api_key. Write
   * only.
   */
  @IsDefined() credentials!: unknown;
  /** The organization that the key is of; absent = the caller's own account. Cannot change later. */
  @IsOptional() @Matches(ID_PATTERN) org_id?: string | null;
}

/** Body of PATCH /v1/provider-keys/{id}: what is absent stays as it is. */
export class UpdateProviderKeyBody extends ProviderKeyFieldsBody {
  /** Replaces the whole credential. */
  @ValidateIf((body: UpdateProviderKeyBody) => body.credentials !== undefined)
  @IsDefined()
  credentials?: unknown;
}

/** Query of GET /v1/provider-keys. */
export class ListProviderKeysQuery {
  /** Largest number of rows to return, 1 to 200. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(1) @Max(200) limit: number = 50;
  /** Number of rows to skip. */
  @IsOptional() @Type(() => Number) @IsInt() @Min(0) @Max(1_000_000) offset: number = 0;
  /** Provider keys of one organization only. */
  @IsOptional() @IsString() @Length(1, 80) org_id?: string;
  /** Keys of one provider only, by slug. */
  @IsOptional() @Matches(SLUG_PATTERN) provider?: string;
}

/** The provider key record. It never holds the credentials. */
export interface ProviderKeyRecord {
  id: string;
  org_id: string | null;
  provider: string;
  label: string | null;
  /** The only trace of the credential. */
  masked_credential: string;
  /** null = every model of the provider. */
  allowed_models: string[] | null;
  allow_platform_fallback: boolean;
  is_enabled: boolean;
  /** Last error with which the provider refused the key; null after a success. */
  last_error: ProviderKeyError | null;
  /** Right to about a minute. */
  last_used_at: string | null;
  created_by: string;
  created_at: string;
  updated_at: string;
}

export interface ProviderKeyError {
  code: string;
  provider_code: string | null;
  message: string;
  /** ISO 8601. */
  at: string;
}

/** Answer of POST /v1/provider-keys/{id}/test. */
export interface ProviderKeyTest {
  /** `unknown`: the provider could not be reached, was busy or throttled the call, and did not judge the credential. */
  status: 'works' | 'refused' | 'unknown';
  latency_ms: number;
  /** Null where it works. */
  error: ProviderKeyError | null;
}

/** Body of POST /internal/provider-keys/open. */
export class OpenProviderKeyBody {
  @IsString() @Length(1, 80) account_id!: string;
  @IsString() @Length(1, 80) id!: string;
  @IsInt() @Min(1) version!: number;
}

class ProviderKeyFailureBody {
  @IsString() @Length(1, 300) model!: string;
  @IsString() @Length(1, 80) request_id!: string;
  @IsIn(['upstream_auth_error', 'upstream_rate_limit_error', 'insufficient_credits']) error_code!: string;
  @IsOptional() @IsString() @Length(1, 80) provider_code!: string | null;
  @IsString() @MaxLength(2_200) message!: string;
  @IsBoolean() served_on_platform!: boolean;
}

class ProviderKeyUseBody {
  @IsString() @Length(1, 80) account_id!: string;
  @IsString() @Length(1, 80) id!: string;
  @IsNumber() at_ms!: number;
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ProviderKeyFailureBody)
  refusal!: ProviderKeyFailureBody | null;
}

/** Body of POST /internal/provider-keys/uses. */
export class ProviderKeyUsesBody {
  @IsArray()
  @ArrayMaxSize(500)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ProviderKeyUseBody)
  uses!: ProviderKeyUseBody[];
}

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
  /** Names of the deployments at its resource of azure, by the upstream model of a route; at most 200. */
  @IsOptional() @IsObject() deployments?: Record<string, unknown> | null;
  /** Requests of a minute, over all edges; null = no limit. */
  @IsOptional() @IsInt() @Min(1) @Max(2_147_483_647) rpm_limit?: number | null;
  /** Tokens of a minute, over all edges; null = no limit. */
  @IsOptional() @IsInt() @Min(1) @Max(2_147_483_647) tpm_limit?: number | null;
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
  /** Requests of a minute; null = no limit. */
  rpm_limit: number | null;
  /** Tokens of a minute; null = no limit. */
  tpm_limit: number | null;
  /** null = every model of the provider. */
  allowed_models: string[] | null;
  /** null = the deployment's address for the provider. */
  base_url: string | null;
  /** Names of deployments by upstream model; null = those of gateway.yaml. */
  deployments: Record<string, string> | null;
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

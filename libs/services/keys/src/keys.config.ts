import {
  IsBoolean,
  IsEmail,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateIf,
} from 'class-validator';
import { AMOUNT_PATTERN, BILLING_MODES, ORG_TIERS, type BillingMode, type OrgTier } from '@gateway/contracts';
import { IsAddress, OrFile, ToBoolean, ToNumber } from '@gateway/platform';

const BASE64_32_BYTES = /^[A-Za-z0-9+/]{43}=$/;

/** `<group>=<org id>:<admin or member>` or `<group>=super_admin`, separated by commas. */
export const GROUP_ROLES_PATTERN =
  /^[^=,]+=(?:super_admin|org_[0-9A-Za-z-]+:(?:admin|member))(?:,[^=,]+=(?:super_admin|org_[0-9A-Za-z-]+:(?:admin|member)))*$/;

/** The secrets of the keys service, of the environment or of KEYS_SECRETS_FILE. */
export class KeysSecretsConfig {
  /** Base64 of 32 bytes: the HMAC key over the digests of credentials. */
  @OrFile() @IsOptional() @Matches(BASE64_32_BYTES) KEYS_PEPPER?: string;
  /** Raise it with a new pepper and keep the old one in KEYS_PEPPER_PREVIOUS until no key needs it. */
  @ToNumber() @IsInt() @Min(1) @Max(1_000) KEYS_PEPPER_VERSION: number = 1;
  /** The pepper of the version before. */
  @OrFile() @IsOptional() @Matches(BASE64_32_BYTES) KEYS_PEPPER_PREVIOUS?: string;
  /** Base64 of 32 bytes: seals what is encrypted at rest. */
  @OrFile() @IsOptional() @Matches(BASE64_32_BYTES) KEYS_KEK?: string;
  /** The one before: what it sealed can be opened until the signing key has been made anew. */
  @OrFile() @IsOptional() @Matches(BASE64_32_BYTES) KEYS_KEK_PREVIOUS?: string;
  /** JSON {pepper, kek}; read where the two variables above are absent. */
  @IsOptional() @IsString() KEYS_SECRETS_FILE?: string;
  /** Makes the file where it is absent. For a single process with its own data folder. */
  @ToBoolean() @IsBoolean() KEYS_SECRETS_CREATE: boolean = false;
}

/** Settings of the keys service. */
export class KeysConfig extends KeysSecretsConfig {
  /** postgresql://…; the tables live in the schema "keys" of this database. */
  @OrFile() @IsAddress('postgres', 'postgresql') KEYS_DATABASE_URL!: string;
  @ToNumber() @IsInt() @Min(2) @Max(200) KEYS_DATABASE_CONNECTIONS: number = 10;
  /** Applies missing migrations at start. In a fleet a job does it, and the service refuses an unknown schema. */
  @ToBoolean() @IsBoolean() KEYS_MIGRATE_AT_START: boolean = false;

  /**
   * Keeps principals of keys in memory, for one process that holds the edge as well and alone changes keys. Beside other
   * replicas it stays off: the other services have a cache of their own.
   */
  @ToBoolean() @IsBoolean() KEYS_PRINCIPAL_CACHE: boolean = false;

  /** Keys of one account, suspended ones too, because none is ever deleted: one more is 409 `conflict`. */
  @ToNumber() @IsInt() @Min(1) @Max(10_000_000) KEYS_PER_ACCOUNT_MAX: number = 100_000;

  /** `iss` of session tokens. */
  @IsString() @Length(1, 200) KEYS_TOKEN_ISSUER: string = 'model-gateway';
  /** The key of session tokens is replaced when it is this old, in days; 0 = by hand only. */
  @ToNumber() @IsInt() @Min(0) @Max(3_650) KEYS_SIGNING_KEY_DAYS: number = 30;
  /** Origin that may use the refresh cookie, for example https://gateway.example.com; absent = the request's own host. */
  @IsOptional() @Matches(/^https?:\/\/[^/]+$/) KEYS_DASHBOARD_ORIGIN?: string;

  /** Address at which people reach the dashboard; links in mails begin with it, whatever host a request names. */
  @Matches(/^https?:\/\/[^\s]+[^\s/]$/) KEYS_PUBLIC_URL: string = 'http://127.0.0.1:8080';

  /** The operator's identity provider, as its discovery document names itself; absent = people log in with passwords only. */
  @IsOptional() @Matches(/^https?:\/\/[^\s?#]+$/) OIDC_ISSUER?: string;
  @ValidateIf(hasIssuer) @IsString() @Length(1, 500) OIDC_CLIENT_ID?: string;
  /** Absent for a public client, which proves itself by PKCE alone. */
  @OrFile() @IsOptional() @IsString() @Length(1, 2_000) OIDC_CLIENT_SECRET?: string;
  /** Text of the button; absent = the host of the issuer. */
  @IsOptional() @IsString() @Length(1, 100) OIDC_NAME?: string;
  @Matches(/^openid(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/) OIDC_SCOPE: string = 'openid email profile';
  /** The claim of userinfo that lists a person's groups. */
  @IsString() @Length(1, 200) OIDC_GROUPS_CLAIM: string = 'groups';
  /** `<group>=<org id>:<admin or member>` or `<group>=super_admin`, by commas; where set, nobody else comes in anew. */
  @IsOptional() @Matches(GROUP_ROLES_PATTERN) OIDC_GROUP_ROLES?: string;

  /** The operator's gateway.yaml: what new organizations begin with. Absent = none. */
  @IsOptional() @IsString() GATEWAY_CONFIG?: string;

  /** Settings like the edge's: provider keys are tried through them. */
  @OrFile() @IsOptional() @IsAddress('http', 'https') HTTPS_PROXY?: string;
  @IsString() NO_PROXY: string = '';

  /** Address of the super admin that the first run creates. */
  @IsEmail() KEYS_ADMIN_EMAIL: string = 'admin@gateway.local';
  /** `off`: no wallet, and the platform pays for what is used. The same in edge, keys and usage. */
  @IsIn(BILLING_MODES) BILLING: BillingMode = 'prepaid';
  /** Tier of new organizations where nothing names one; absent: `standard`, and `enterprise` where billing is off. */
  @IsOptional() @IsIn(ORG_TIERS) KEYS_DEFAULT_TIER?: OrgTier;
  /** Opening credit of the first organization in USD; 0 = none. None where billing is off. */
  @Matches(AMOUNT_PATTERN) KEYS_OPENING_CREDIT_USD: string = '100';
}

function hasIssuer({ OIDC_ISSUER: issuer }: KeysConfig): boolean {
  return issuer !== undefined;
}

import { BILLING_MODES, type BillingMode } from '@gateway/contracts';
import { IsBoolean, IsIn, IsInt, IsOptional, IsString, Matches, Max, Min, ValidateIf } from 'class-validator';
import { IsAddress, OrFile, ToBoolean, ToNumber } from '@gateway/platform';

const BASE64_32_BYTES = /^[A-Za-z0-9+/]{43}=$/;

/** The key that logged bodies are sealed with, of the environment or of USAGE_SECRETS_FILE. */
export class UsageSecretsConfig {
  /** Base64 of 32 bytes: seals the bodies that organizations log. Without it none are kept. */
  @OrFile() @IsOptional() @Matches(BASE64_32_BYTES) USAGE_KEK?: string;
  /** The one before: opens what it sealed, for as long as that is kept. */
  @OrFile() @IsOptional() @Matches(BASE64_32_BYTES) USAGE_KEK_PREVIOUS?: string;
  /** JSON {kek}; read where the variable is absent. */
  @IsOptional() @IsString() USAGE_SECRETS_FILE?: string;
  /** Makes the file where it is absent. For a single process with its own data folder. */
  @ToBoolean() @IsBoolean() USAGE_SECRETS_CREATE: boolean = false;
}

/** Settings of the usage service. */
export class UsageConfig extends UsageSecretsConfig {
  /** postgresql://…; the tables live in the schema "usage" of this database. */
  @OrFile() @IsAddress('postgres', 'postgresql') USAGE_DATABASE_URL!: string;
  @ToNumber() @IsInt() @Min(3) @Max(200) USAGE_DATABASE_CONNECTIONS: number = 10;
  /** A copy of that database, for reads that may be some seconds behind. Absent = the database itself answers them. */
  @OrFile() @IsOptional() @IsAddress('postgres', 'postgresql') USAGE_READS_DATABASE_URL?: string;
  /** Applies missing migrations at start. In a fleet a job does it, and the service refuses an unknown schema. */
  @ToBoolean() @IsBoolean() USAGE_MIGRATE_AT_START: boolean = false;
  /** `off`: no wallet, and the platform pays for what is used. The same in edge, keys and usage. */
  @IsIn(BILLING_MODES) BILLING: BillingMode = 'prepaid';
  /** sk_… or rk_…; set, people pay by card. */
  @OrFile() @IsOptional() @Matches(/^[\x21-\x7e]{8,300}$/) STRIPE_SECRET_KEY?: string;
  /** Secret of the webhook endpoint: required with a secret key, because its holder makes money. */
  @OrFile()
  @ValidateIf(({ STRIPE_SECRET_KEY }: UsageConfig) => STRIPE_SECRET_KEY !== undefined)
  @Matches(/^[\x21-\x7e]{16,300}$/, {
    message: 'STRIPE_WEBHOOK_SECRET has to be set where STRIPE_SECRET_KEY is, to 16 to 300 characters',
  })
  STRIPE_WEBHOOK_SECRET?: string;
  /** A stand-in, for tests. */
  @Matches(/^https?:\/\//) STRIPE_BASE_URL: string = 'https://api.stripe.com';
  /** Address to which a person returns after paying. */
  @Matches(/^https?:\/\//) BILLING_RETURN_URL: string = 'http://127.0.0.1:8080/dashboard/';
}

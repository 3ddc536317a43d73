import { IsBoolean, IsIn, IsInt, IsOptional, IsString, Max, Min, ValidateIf } from 'class-validator';
import { IsAddress, IsReadableFile, OrFile, ToBoolean, ToNumber } from '@gateway/platform';
import { IsFeedAddress, IsFeedInterval, IsFeedKeys } from './signed/feed-settings.js';

/** True if keys are given, or an address needs them. */
function needsFeedKeys({
  CATALOGUE_FEED_URL: url,
  CATALOGUE_FEED_KEYS: keys,
}: Pick<CatalogueConfig, 'CATALOGUE_FEED_URL' | 'CATALOGUE_FEED_KEYS'>): boolean {
  return url !== undefined || keys !== undefined;
}

/** Settings of an installation beside the data of the release. */
export class OwnConfig {
  /** Offers the models of the built-in simulated providers. The edge's variable of the same name. */
  @ToBoolean() @IsBoolean() SIMULATED_PROVIDER: boolean = false;
  /**
   * `auto`: simulated models are listed until a real provider has a credential; `on`: always; `off`: never. Callable
   * all the same.
   */
  @IsIn(['auto', 'on', 'off']) SIMULATED_MODELS: 'auto' | 'on' | 'off' = 'auto';
  /** Path of a gateway.yaml: own providers, models and prices. The edge's variable of the same name. */
  @IsOptional() @IsString() GATEWAY_CONFIG?: string;
  /** Servers without keys, whose models are listed free. The edge's variables of the same names. */
  @IsOptional() @IsAddress('http', 'https') OLLAMA_BASE_URL?: string;
  @IsOptional() @IsAddress('http', 'https') VLLM_BASE_URL?: string;
  @IsOptional() @IsAddress('http', 'https') OPENAI_COMPATIBLE_BASE_URL?: string;
}

/** Settings of the catalogue service. */
export class CatalogueConfig extends OwnConfig {
  /** postgresql://…; the tables live in the schema "catalogue" of this database. */
  @OrFile() @IsAddress('postgres', 'postgresql') CATALOGUE_DATABASE_URL!: string;
  @ToNumber() @IsInt() @Min(2) @Max(200) CATALOGUE_DATABASE_CONNECTIONS: number = 5;
  /** Applies missing migrations at start. In a fleet a job does it, and the service refuses an unknown schema. */
  @ToBoolean() @IsBoolean() CATALOGUE_MIGRATE_AT_START: boolean = false;
  /** Interval at which a process looks for a newer snapshot of another one, in milliseconds. */
  @ToNumber() @IsInt() @Min(100) @Max(60_000) CATALOGUE_POLL_MS: number = 2_000;
  /** Address of a signed catalogue: https, a file, or http to this machine. Absent: the data of the release. */
  @IsOptional() @IsFeedAddress() CATALOGUE_FEED_URL?: string;
  /** Public keys of who may sign it, `keyid=base64` with commas between. */
  @ValidateIf(needsFeedKeys) @IsFeedKeys() CATALOGUE_FEED_KEYS?: string;
  /** Certificates beside Node's own, PEM. */
  @IsOptional() @IsReadableFile() CATALOGUE_FEED_CA_FILE?: string;
  /** Seconds between two readings; 0: by hand alone. */
  @ToNumber() @IsInt() @IsFeedInterval() CATALOGUE_FEED_SECONDS: number = 21_600;
  /** Changes that are applied by themselves: all, none, or those that move no price by more than a percentage. */
  @IsIn(['apply', 'ask', 'apply_below']) CATALOGUE_FEED_POLICY: 'apply' | 'ask' | 'apply_below' =
    'apply_below';
  @ToNumber() @IsInt() @Min(0) @Max(1_000) CATALOGUE_FEED_APPLY_BELOW_PCT: number = 20;
  /** Proxy for the feed at https addresses, and the hosts that are called directly. The edge's variables too. */
  @OrFile() @IsOptional() @IsAddress('http', 'https') HTTPS_PROXY?: string;
  @IsString() NO_PROXY: string = '';
  /** Interval at which servers are asked for their models, in milliseconds. */
  @ToNumber() @IsInt() @Min(1_000) @Max(86_400_000) DISCOVERY_MS: number = 60_000;
}

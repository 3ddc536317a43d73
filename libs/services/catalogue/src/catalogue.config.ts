import { IsBoolean, IsIn, IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import { IsAddress, OrFile, ToBoolean, ToNumber } from '@gateway/platform';

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
  /** Interval at which servers are asked for their models, in milliseconds. */
  @ToNumber() @IsInt() @Min(1_000) @Max(86_400_000) DISCOVERY_MS: number = 60_000;
}

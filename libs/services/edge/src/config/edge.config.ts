import { isDeepStrictEqual } from 'node:util';
import {
  ArrayMaxSize,
  IsBoolean,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
} from 'class-validator';
import { BILLING_MODES, type BillingMode } from '@gateway/contracts';
import {
  isSimulated,
  NO_GATEWAY_CONFIG,
  ownProviders,
  providerBaseUrl,
  PROVIDERS,
  withAddedParts,
  withDeployments,
  type DeploymentNames,
  type EnvReader,
  type GatewayConfig,
  type Provider,
  type ProviderAccess,
} from '@gateway/providers';
import {
  ConfigError,
  IsAddress,
  IsWritableFolder,
  loadConfig,
  OrFile,
  ToBoolean,
  ToList,
  ToNumber,
  valueOrFile,
} from '@gateway/platform';
import {
  configFaultsOf,
  gatewayFile,
  namesIn,
  upstreamParts,
  withFile,
  type UpstreamParts,
  type UpstreamTls,
} from '@gateway/upstream';

/** Settings of the edge. Names are the environment's. */
export class EdgeConfig {
  /** Root of the journals of this volume. */
  @IsString() @IsWritableFolder() JOURNAL_DIR = '.data/journal';
  /** Name of this process's journal, stable over restarts: letters, digits, `.`, `_`, `-`. */
  @Matches(/^[\w.-]{1,64}$/) JOURNAL_PRODUCER = 'edge-0';
  /** `wait`: an answer ends only when its outcome is synced to the disk. */
  @IsIn(['group', 'wait']) JOURNAL_SYNC: 'group' | 'wait' = 'group';
  /** `kafka`: the last bytes of an answer wait, JOURNAL_ACK_MS at most, until all replicas of the brokers have its record. */
  @IsIn(['disk', 'kafka']) JOURNAL_ACK: 'disk' | 'kafka' = 'disk';
  @ToNumber() @IsInt() @Min(1) @Max(10_000) JOURNAL_ACK_MS = 50;
  /** Ids of organizations whose answers wait as with `kafka`, whatever JOURNAL_ACK says. */
  @ToList() @ArrayMaxSize(1_000) @IsString({ each: true }) JOURNAL_ACK_ORGANIZATIONS: string[] = [];
  /** `2`: usage records go to gateway.usage.v2, in half the bytes. Releases before read gateway.usage.v1 alone. */
  @ToNumber() @IsIn([1, 2]) USAGE_TOPIC_VERSION: 1 | 2 = 1;
  @ToNumber() @IsInt() @Min(16_777_216) JOURNAL_BUDGET_BYTES = 10_737_418_240;
  /** Connections per upstream origin: at least the streams that run at once. */
  @ToNumber() @IsInt() @Min(1) @Max(65_536) UPSTREAM_CONNECTIONS = 1_024;
  @ToNumber() @IsInt() @Min(50) UPSTREAM_CONNECT_TIMEOUT_MS = 3_000;
  @ToNumber() @IsInt() @Min(50) UPSTREAM_STREAM_FIRST_BYTE_TIMEOUT_MS = 60_000;
  @ToNumber() @IsInt() @Min(50) UPSTREAM_STREAM_IDLE_TIMEOUT_MS = 60_000;
  @ToNumber() @IsInt() @Min(50) UPSTREAM_STREAM_TOTAL_TIMEOUT_MS = 1_800_000;
  @ToNumber() @IsInt() @Min(50) UPSTREAM_TOTAL_TIMEOUT_MS = 600_000;
  /** http[s]://[user:password@]host:port of a proxy for providers with https addresses; absent = none. */
  @OrFile() @IsOptional() @IsAddress('http', 'https') HTTPS_PROXY?: string;
  /** Hosts that are called directly, with commas between; a leading dot names all below. */
  @IsString() NO_PROXY = '';
  /** Silence of a stream before its first event after which 200 and a comment are sent, and between keep-alives. */
  @ToNumber() @IsInt() @Min(50) STREAM_KEEP_ALIVE_MS = 15_000;
  /** A client that reads nothing for so long is closed. */
  @ToNumber() @IsInt() @Min(50) CLIENT_STALL_TIMEOUT_MS = 60_000;
  /** Realtime: sessions of one key on this process, and what one session may last, use and wait. */
  @ToNumber() @IsInt() @Min(1) REALTIME_MAX_SESSIONS = 10;
  @ToNumber() @IsInt() @Min(1) REALTIME_MAX_SECONDS = 3_600;
  @ToNumber() @IsInt() @Min(1) REALTIME_MAX_TOKENS = 1_000_000;
  @ToNumber() @IsInt() @Min(1) REALTIME_IDLE_SECONDS = 300;
  /** Interval of heartbeats; a client that misses two is closed. */
  @ToNumber() @IsInt() @Min(1) REALTIME_PING_SECONDS = 20;
  /** Lines of batches that begin a second while requests of callers come in; without those every line begins at once. */
  @ToNumber() @IsInt() @Min(1) BATCH_LINES_PER_SECOND = 5;
  /** `off`: no wallet; its routes are not in the reference. The same in edge, keys and usage. */
  @IsIn(BILLING_MODES) BILLING: BillingMode = 'prepaid';
  /** Price of a request on a customer's own provider key, in percent of the list price. */
  @Matches(/^(?:100|\d{1,2}(?:\.\d{1,6})?)$/) BYOK_FEE_PCT = '0';
  /** Base URLs of the services behind the front door; absent where they run in this process. */
  @IsOptional() @IsString() KEYS_URL?: string;
  @IsOptional() @IsString() CATALOGUE_URL?: string;
  @IsOptional() @IsString() USAGE_URL?: string;
  @IsOptional() @IsString() NOTIFICATIONS_URL?: string;
  @IsOptional() @IsString() WORKERS_URL?: string;
  /** The built dashboard; where there is none, /dashboard/ is 404. */
  @IsString() DASHBOARD_DIR = 'dist/dashboard';
  /** Serve the built-in simulated provider's models. */
  @ToBoolean() @IsBoolean() SIMULATED_PROVIDER = false;
}

/** The setting of `model: auto` that lists share. */
class AutoConfig {
  /** `auto`: simulated models may be chosen until a real provider has a credential; `on`: always; `off`: never. */
  @IsIn(['auto', 'on', 'off']) SIMULATED_MODELS: 'auto' | 'on' | 'off' = 'auto';
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A provider with the platform's credential and address. */
export interface EnabledProvider {
  provider: Provider;
  access: ProviderAccess;
  /** TLS of its address, where it is not that of all. */
  tls?: UpstreamTls;
  /** Names of deployments at the resource of the access; absent = its models have their own names. */
  deployments?: DeploymentNames;
  /** Address that says whether it is well; absent = it is not asked. */
  healthUrl?: string;
}

/**
 * Every provider whose usual variable is set, itself or as `<NAME>_FILE`, is enabled by itself, at the address of its
 * …_BASE_URL where that is set; and those of GATEWAY_CONFIG. Throws ConfigError with all faults.
 */
export function enabledProviders(env: Environment = process.env): Map<string, EnabledProvider> {
  const enabled = new Map<string, EnabledProvider>();
  const faults: string[] = [];
  const attempt = (action: () => void): void => {
    try {
      action();
    } catch (failure) {
      if (failure instanceof ConfigError) faults.push(...failure.faults);
      else faults.push(failure instanceof Error ? failure.message : String(failure));
    }
  };
  let config = NO_GATEWAY_CONFIG;
  let parts: ReadonlyMap<string, UpstreamParts> = new Map();
  attempt(() => {
    const file = gatewayFile(env);
    faults.push(...configFaultsOf(file));
    ({ config } = file);
    const read = upstreamParts(file, env);
    faults.push(...configFaultsOf(read));
    ({ parts } = read);
  });
  const known = withFile(env, config);
  for (const provider of PROVIDERS)
    attempt(() => {
      const access = accessOf(provider, known);
      if (access === null) return;
      const one = withNames({ provider, access }, config);
      enabled.set(provider.slug, withParts(one, parts.get(provider.slug)));
    });
  for (const provider of ownProviders(config))
    attempt(() => {
      const one = { provider, access: ownAccess(provider, env) };
      enabled.set(provider.slug, withParts(one, parts.get(provider.slug)));
    });
  faults.push(...tlsFaults(enabled));
  attempt(() => loadConfig(AutoConfig, known));
  if (faults.length > 0) throw new ConfigError(faults);
  return withoutSimulated(enabled, loadConfig(AutoConfig, known));
}

/** Returns the provider with the names that deployments have at its resource. */
function withNames({ provider, access }: EnabledProvider, config: GatewayConfig): EnabledProvider {
  if (provider.deployments === undefined) return { provider, access };
  const deployments = namesIn(config, provider.slug);
  return { provider: withDeployments(provider, deployments), access, deployments };
}

/** Returns the provider with what the file adds to its calls. */
function withParts(one: EnabledProvider, parts: UpstreamParts | undefined): EnabledProvider {
  if (parts === undefined) return one;
  const { provider, access } = one;
  const { added, tls, timeouts, healthPath } = parts;
  const called = { ...withAddedParts(provider), ...(timeouts !== null && { timeouts }) };
  return {
    ...one,
    provider: called,
    access: { ...access, added },
    ...(tls !== null && { tls }),
    ...(healthPath !== null && { healthUrl: `${new URL(access.baseUrl).origin}${healthPath}` }),
  };
}

/** Returns what is wrong with TLS at the addresses that providers have in the end, those of variables too. */
function tlsFaults(enabled: ReadonlyMap<string, EnabledProvider>): string[] {
  const faults: string[] = [];
  const first = new Map<string, { slug: string; tls: UpstreamTls }>();
  for (const [slug, { access, tls }] of enabled) {
    if (tls === undefined) continue;
    const { protocol, origin } = new URL(access.baseUrl);
    const other = first.get(origin);
    if (protocol === 'http:')
      faults.push(`GATEWAY_CONFIG: ca_file or client_cert_file of ${slug}: its address ${origin} has no TLS`);
    else if (other !== undefined && !isDeepStrictEqual(other.tls, tls))
      faults.push(
        `GATEWAY_CONFIG: ${other.slug} and ${slug} name different TLS files for one address, ${origin}`,
      );
    else first.set(origin, { slug, tls });
  }
  return faults;
}

/** Marks the simulated providers that `auto` leaves out: the built-in answers are no substitute for a real model. */
function withoutSimulated(
  enabled: Map<string, EnabledProvider>,
  { SIMULATED_MODELS: setting }: Readonly<AutoConfig>,
): Map<string, EnabledProvider> {
  const isOut =
    setting === 'auto' ? [...enabled.keys()].some((slug) => !isSimulated(slug)) : setting === 'off';
  if (!isOut) return enabled;
  return new Map(
    [...enabled].map(([slug, one]) => [
      slug,
      isSimulated(slug) ? { ...one, provider: { ...one.provider, isByNameAlone: true } } : one,
    ]),
  );
}

function ownAccess(
  { slug, credentialEnv, defaultBaseUrl: baseUrl }: Provider,
  env: Environment,
): ProviderAccess {
  const key = credentialEnv === '' ? '' : valueOrFile(env, credentialEnv);
  if (key === undefined)
    throw new TypeError(`${credentialEnv} is not set: ${slug} of GATEWAY_CONFIG needs it.`);
  return { baseUrl, credential: { kind: 'api_key', key } };
}

function accessOf(provider: Provider, env: Environment): ProviderAccess | null {
  const read = (name: string): string | undefined => valueOrFile(env, name);
  const found = provider.accessFrom ? provider.accessFrom(read) : usualAccess(provider, read);
  if (found === undefined) return null;
  const baseUrl = providerBaseUrl({ ...provider, defaultBaseUrl: found.baseUrl }, env);
  if (/^https:\/\/[^/]+\.invalid\//.test(baseUrl))
    throw new TypeError(`${provider.baseUrlEnv} is not set: ${provider.name} has no address of its own.`);
  return { ...found, baseUrl };
}

/** A server without keys is enabled by its address: the one that everybody has would enable it everywhere. */
function usualAccess(
  { credentialEnv, baseUrlEnv, defaultBaseUrl: baseUrl, isKeyless }: Provider,
  read: EnvReader,
): ProviderAccess | undefined {
  const key = read(credentialEnv) ?? (isKeyless === true && read(baseUrlEnv) !== undefined ? '' : undefined);
  return key === undefined ? undefined : { baseUrl, credential: { kind: 'api_key', key } };
}

import { readFileSync } from 'node:fs';
import { ConfigError, valueOrFile } from '@gateway/platform';
import {
  DeploymentNames,
  GatewayConfigError,
  GatewayFile,
  ownProviders,
  providerBaseUrl,
  PROVIDERS,
  type GatewayConfig,
  type Provider,
} from '@gateway/providers';

type Environment = Readonly<Record<string, string | undefined>>;

/** The file of GATEWAY_CONFIG with its faults; without the variable an empty one. Throws ConfigError where it cannot be read. */
export function gatewayFile({ GATEWAY_CONFIG: path }: Environment): GatewayFile {
  if (!path) return new GatewayFile('');
  try {
    return new GatewayFile(readFileSync(path, 'utf8'), path);
  } catch (failure) {
    throw gatewayConfigFault(failure);
  }
}

/** Returns the error with the file's faults, one a line. */
export function gatewayConfigFault(failure: unknown): ConfigError {
  const reason = failure instanceof Error ? failure.message : String(failure);
  const faults = failure instanceof GatewayConfigError ? failure.faults : [reason];
  return new ConfigError(configFaultsOf({ faults }));
}

/** The faults of a file as those of its variable. */
export function configFaultsOf({ faults }: Pick<GatewayFile, 'faults'>): string[] {
  return faults.map((fault) => `GATEWAY_CONFIG: ${fault}`);
}

/**
 * The environment with what the file says of the catalogue and of providers that this release knows: a variable that is
 * set wins.
 */
export function withFile(env: Environment, { providers, catalogue }: GatewayConfig): Environment {
  const merged: Record<string, string | undefined> = { ...env };
  const { simulated_models, ...feed } = catalogue;
  if (simulated_models !== undefined) merged.SIMULATED_MODELS ||= simulated_models;
  for (const [name, value] of Object.entries(feed))
    merged[`CATALOGUE_${name.toUpperCase()}`] ||= String(value);
  for (const { slug, base_url, api_key_env } of providers) {
    const known = PROVIDERS.find((provider) => provider.slug === slug);
    if (!known) continue;
    if (base_url !== undefined) merged[known.baseUrlEnv] ||= base_url;
    if (api_key_env !== undefined && merged[`${known.credentialEnv}_FILE`] === undefined)
      merged[known.credentialEnv] ||= valueOrFile(env, api_key_env);
  }
  return merged;
}

/** The environment with the `billing` of the file: the variable wins. Throws ConfigError where the file cannot be read. */
export function withBilling(env: Environment): Environment {
  return { ...env, BILLING: env.BILLING || gatewayFile(env).config.billing };
}

/** A provider and the operator's address for it. */
export interface KeyedProvider {
  provider: Provider;
  baseUrl: string;
  /** Names of deployments that the file has for the platform's credentials. */
  deployments?: DeploymentNames;
}

/** Providers that customers' own keys are used at, by slug: with a credential of ours or not, those of the file too. */
export function keyedProviders(env: Environment): Map<string, KeyedProvider> {
  const keyed = new Map<string, KeyedProvider>();
  const file = gatewayFile(env);
  const { config } = file;
  const faults: string[] = [...configFaultsOf(file)];
  const known = withFile(env, config);
  for (const provider of PROVIDERS) {
    // Servers of ours are no business of a customer's key, unless the operator named one.
    if (provider.isKeyless && !known[provider.baseUrlEnv]) continue;
    try {
      const baseUrl = providerBaseUrl(provider, known);
      const deployments = provider.deployments && namesIn(config, provider.slug);
      keyed.set(provider.slug, { provider, baseUrl, ...(deployments && { deployments }) });
    } catch (failure) {
      faults.push(failure instanceof Error ? failure.message : String(failure));
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  for (const provider of ownProviders(config))
    if (!provider.isKeyless) keyed.set(provider.slug, { provider, baseUrl: provider.defaultBaseUrl });
  return keyed;
}

/** Returns what the file says of the deployments of a provider. */
export function namesIn({ providers }: GatewayConfig, slug: string): DeploymentNames {
  const { deployments, discover_deployments } = providers.find((entry) => entry.slug === slug) ?? {};
  return new DeploymentNames(deployments, discover_deployments);
}

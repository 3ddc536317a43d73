import { readFileSync } from 'node:fs';
import { ConfigError, valueOrFile } from '@gateway/platform';
import {
  GatewayConfigError,
  NO_GATEWAY_CONFIG,
  providerBaseUrl,
  PROVIDERS,
  readGatewayConfig,
  type GatewayConfig,
} from '@gateway/providers';

type Environment = Readonly<Record<string, string | undefined>>;

/** What the file of GATEWAY_CONFIG says; without the variable there is none. Throws ConfigError with all faults of the file. */
export function gatewayConfig({ GATEWAY_CONFIG: path }: Environment): GatewayConfig {
  try {
    return path ? readGatewayConfig(readFileSync(path, 'utf8')) : NO_GATEWAY_CONFIG;
  } catch (failure) {
    throw gatewayConfigFault(failure);
  }
}

/** What is wrong with the file, one fault a line. */
export function gatewayConfigFault(failure: unknown): ConfigError {
  const reason = failure instanceof Error ? failure.message : String(failure);
  const faults = failure instanceof GatewayConfigError ? failure.faults : [reason];
  return new ConfigError(faults.map((fault) => `GATEWAY_CONFIG: ${fault}`));
}

/** The environment with what the file says of providers that this release knows: a variable that is set wins. */
export function withFile(env: Environment, { providers }: GatewayConfig): Environment {
  const merged: Record<string, string | undefined> = { ...env };
  for (const { slug, base_url, api_key_env } of providers) {
    const known = PROVIDERS.find((provider) => provider.slug === slug);
    if (!known) continue;
    if (base_url !== undefined) merged[known.baseUrlEnv] ||= base_url;
    if (api_key_env !== undefined && merged[`${known.credentialEnv}_FILE`] === undefined)
      merged[known.credentialEnv] ||= valueOrFile(env, api_key_env);
  }
  return merged;
}

/** Where customers' own keys are used: every provider at the operator's address for it, with a credential of ours or not. */
export function providerAddresses(env: Environment): Map<string, string> {
  const faults: string[] = [];
  const addresses = new Map<string, string>();
  const known = withFile(env, gatewayConfig(env));
  for (const provider of PROVIDERS) {
    // Servers of ours are no business of a customer's key, unless the operator named one.
    if (provider.isKeyless && !known[provider.baseUrlEnv]) continue;
    try {
      addresses.set(provider.slug, providerBaseUrl(provider, known));
    } catch (failure) {
      faults.push(failure instanceof Error ? failure.message : String(failure));
    }
  }
  if (faults.length > 0) throw new ConfigError(faults);
  return addresses;
}

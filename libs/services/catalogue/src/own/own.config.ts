import { valueOrFile } from '@gateway/platform';
import { isBuiltIn, PROVIDERS, type GatewayConfig } from '@gateway/providers';
import type { OwnConfig } from '../catalogue.config.js';
import type { Discoverable } from './discover.js';

/** Servers known to this release, called by an address alone. */
const SERVERS = [
  ['ollama', 'ollama', 'OLLAMA_BASE_URL', 'OLLAMA_API_KEY'],
  ['vllm', 'chat', 'VLLM_BASE_URL', 'VLLM_API_KEY'],
  ['openai-compatible', 'chat', 'OPENAI_COMPATIBLE_BASE_URL', 'OPENAI_COMPATIBLE_API_KEY'],
] as const;

/**
 * The servers that are asked for their models: those without keys that no model of the file names, and who says so.
 * Throws TypeError where a credential cannot be read.
 */
export function discoverable(
  config: OwnConfig,
  { providers, models }: GatewayConfig,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Discoverable[] {
  const named = new Set(models.flatMap(({ routes }) => routes.map(({ provider }) => provider)));
  const keyOf = (name: string | undefined): string =>
    (name === undefined ? undefined : valueOrFile(env, name)) ?? '';
  const found: Discoverable[] = [];
  for (const [slug, dialect, address, key] of SERVERS) {
    const entry = providers.find((provider) => provider.slug === slug);
    const baseUrl = config[address] || entry?.base_url;
    if (baseUrl === undefined || !(entry?.discover ?? !named.has(slug))) continue;
    const keyEnv = entry?.api_key_env ?? key;
    const name = PROVIDERS.find((provider) => provider.slug === slug)?.name ?? slug;
    found.push({ slug, name, dialect, baseUrl: withoutSlash(baseUrl), key: keyOf(keyEnv), keyEnv });
  }
  for (const { slug, name = slug, dialect, base_url, api_key_env, discover } of providers) {
    if (isBuiltIn(slug) || base_url === undefined || (dialect !== 'chat' && dialect !== 'ollama')) continue;
    if (!(discover ?? (api_key_env === undefined && !named.has(slug)))) continue;
    const [baseUrl, key, keyEnv] = [withoutSlash(base_url), keyOf(api_key_env), api_key_env ?? null];
    found.push({ slug, name, dialect, baseUrl, key, keyEnv });
  }
  return found;
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, '');
}

import type { CreateOrgBody } from '@gateway/contracts';
import { LazySchema } from '@gateway/dialects';
import type { ErrorObject } from 'ajv';
import { parseDocument } from 'yaml';
import { PROVIDERS } from '../registry.generated.js';
import { GATEWAY_CONFIG_SCHEMA } from './gateway-config.schema.js';

/** An upstream of the operator's own, or the operator's address for one that this release knows. */
export interface OwnProvider {
  slug: string;
  name?: string;
  /** Wire format that it speaks; absent for a provider that this release knows. */
  dialect?: string;
  base_url?: string;
  /** Variable that holds its key: the file never holds a secret. */
  api_key_env?: string;
  quirks?: Record<string, unknown>;
  /** Ask it for its models and list them free. Absent: where it needs no key and no model here names it. */
  discover?: boolean;
}

export interface OwnRoute {
  provider: string;
  upstream_model: string;
  dialect?: string;
  context_length?: number;
  max_output_tokens?: number;
  /** A price record: `prompt_usd_per_1m` and so on, decimal strings. */
  prices?: Record<string, unknown>;
  free?: boolean;
}

export interface OwnModel {
  id: string;
  name?: string;
  type?: string;
  description?: string;
  context_length: number;
  max_output_tokens?: number;
  input_modalities?: string[];
  output_modalities?: string[];
  /** Flags without their `supports_`. */
  supports?: string[];
  reasoning?: { style: 'none' | 'effort' | 'adaptive' | 'budget'; efforts?: string[] };
  fixes_sampling?: boolean;
  routes: OwnRoute[];
}

/** Another price for a route that the seed has. */
interface PriceOverride {
  model: string;
  provider: string;
  prices: Record<string, unknown>;
}

/** The content of GATEWAY_CONFIG. */
export interface GatewayConfig {
  providers: OwnProvider[];
  models: OwnModel[];
  prices: PriceOverride[];
  /** Defaults of new organizations. */
  organizations: Omit<CreateOrgBody, 'name' | 'tier' | 'credit_limit_usd'>;
}

export const NO_GATEWAY_CONFIG: GatewayConfig = { providers: [], models: [], prices: [], organizations: {} };

/** Every fault of the file, a sentence each. */
export class GatewayConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The gateway's configuration is wrong:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'GatewayConfigError';
  }
}

const schema = new LazySchema(GATEWAY_CONFIG_SCHEMA, { strict: false, allErrors: true });

/**
 * Reads and checks the text of a gateway.yaml.
 * @throws GatewayConfigError
 */
export function readGatewayConfig(text: string): GatewayConfig {
  const document = parseDocument(text, { uniqueKeys: true });
  if (document.errors.length > 0)
    throw new GatewayConfigError(document.errors.map(({ message }) => message.split('\n')[0]));
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  const { validate } = schema;
  if (!validate(value)) throw new GatewayConfigError([...new Set((validate.errors ?? []).map(sentence))]);
  const config = { ...NO_GATEWAY_CONFIG, ...(value as Partial<GatewayConfig>) };
  const faults = [...providerFaults(config), ...modelFaults(config)];
  if (faults.length > 0) throw new GatewayConfigError(faults);
  return config;
}

function sentence({ instancePath, keyword, params, message = 'is not valid' }: ErrorObject): string {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`))
    .join('')
    .slice(1);
  const given = params as Record<string, unknown>;
  const where = path === '' ? 'the file' : path;
  if (keyword === 'required') return `${where}: ${String(given.missingProperty)} is missing.`;
  if (keyword === 'additionalProperties') return `${where}: ${String(given.additionalProperty)} is unknown.`;
  if (keyword === 'enum' && Array.isArray(given.allowedValues))
    return `${where} must be one of ${given.allowedValues.join(', ')}.`;
  if (keyword === 'pattern' && path.endsWith('api_key_env'))
    return `${where} must name a variable: the file never holds a secret.`;
  return `${where} ${message}.`;
}

function* providerFaults({ providers }: GatewayConfig): Generator<string> {
  const seen = new Set<string>();
  for (const [at, { slug, dialect, base_url }] of providers.entries()) {
    const where = `providers[${at}]`;
    if (seen.has(slug)) yield `${where}: ${slug} is there twice.`;
    seen.add(slug);
    if (isBuiltIn(slug)) {
      if (dialect !== undefined)
        yield `${where}: ${slug} is known to this release, which knows its dialect: leave dialect out.`;
    } else {
      if (dialect === undefined) yield `${where}: dialect is missing, because this release has no ${slug}.`;
      if (base_url === undefined) yield `${where}: base_url is missing, because this release has no ${slug}.`;
    }
    const fault = base_url === undefined ? null : addressFault(base_url);
    if (fault !== null) yield `${where}.base_url ${fault}`;
  }
}

function addressFault(address: string): string | null {
  if (!URL.canParse(address) || !/^https?:/.test(address)) return 'is no http(s) address.';
  const { username, password, search } = new URL(address);
  if (username !== '' || password !== '')
    return 'holds a credential: name a variable in api_key_env instead.';
  return search === '' ? null : 'has a query, which requests would lose.';
}

export function isBuiltIn(slug: string): boolean {
  return PROVIDERS.some((provider) => provider.slug === slug);
}

function* modelFaults({ providers, models }: GatewayConfig): Generator<string> {
  const known = new Set(providers.map(({ slug }) => slug));
  const seen = new Set<string>();
  for (const [at, { id, routes }] of models.entries()) {
    if (seen.has(id)) yield `models[${at}]: ${id} is there twice.`;
    seen.add(id);
    for (const [position, { provider, dialect, prices, free }] of routes.entries()) {
      const where = `models[${at}].routes[${position}]`;
      if (!known.has(provider) && !isBuiltIn(provider))
        yield `${where}.provider: there is no provider ${provider}, neither here nor in this release.`;
      if (isBuiltIn(provider) && dialect === undefined && dialectsOf(provider).length !== 1)
        yield `${where}: dialect is missing: ${provider} speaks ${dialectsOf(provider).join(', ')}.`;
      if (prices === undefined && free !== true)
        yield `${where}: prices are missing; a model that costs nothing says free: true.`;
      if (prices !== undefined && free === true) yield `${where} has prices and is free: keep one of them.`;
    }
  }
}

function dialectsOf(slug: string): readonly string[] {
  return PROVIDERS.find((provider) => provider.slug === slug)?.dialects ?? [];
}

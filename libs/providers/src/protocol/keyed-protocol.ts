import { classifyFailure, type FailureRule } from '../failure/classify.js';
import { OPENAI_RULES } from '../failure/openai-rules.js';
import { addressOf, type NamedHosts } from '../named-address.js';
import { apiKeyOf, type Provider } from '../provider.js';
import { upstreamRequest } from '../transport.js';

interface KeyedOptions extends Pick<
  Provider,
  'slug' | 'name' | 'dialects' | 'credentialEnv' | 'baseUrlEnv' | 'defaultBaseUrl'
> {
  check: NonNullable<Provider['check']>;
  hosts?: NamedHosts;
  /** The credential as the provider reads it. */
  headersOf: (key: string) => Readonly<Record<string, string>>;
  /** Looked at before the wording that is shared across the field. */
  rules?: readonly FailureRule[];
}

const NOWHERE: NamedHosts = { api: [], results: [] };

/** A provider of its own formats that is called with one key. */
export function keyedProvider({ headersOf, rules = [], hosts = NOWHERE, ...named }: KeyedOptions): Provider {
  const allRules = [...rules, ...OPENAI_RULES];
  return {
    ...named,
    hosts,
    prepare: (request, access) =>
      upstreamRequest(request, addressOf(request, access.baseUrl, hosts.api), headersOf(apiKeyOf(access))),
    quirks: () => ({}),
    classify: (signal) => classifyFailure(named.name, allRules, signal),
  };
}

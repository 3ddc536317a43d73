import type { DialectName } from '@gateway/contracts';
import type { Quirks } from '@gateway/dialects';
import { classifyFailure, type FailureRule } from '../failure/classify.js';
import { OPENAI_RULES } from '../failure/openai-rules.js';
import { apiKeyOf, type CredentialCheck, type Provider, type ProviderAccess } from '../provider.js';
import { upstreamRequest } from '../transport.js';

export interface OpenAiCompatibleOptions {
  slug: string;
  name: string;
  credentialEnv: string;
  baseUrlEnv: string;
  /** Address with the version segment, as the OpenAI SDKs write base URLs. */
  defaultBaseUrl: string;
  /** Path of the API where an operator's address names none of it or its beginning alone. */
  root?: string;
  /** Serves without a key. */
  isKeyless?: boolean;
  /** Header of the key where it is not a bearer's. */
  keyHeader?: string;
  dialects?: readonly DialectName[];
  batches?: string;
  quirks?: Quirks;
  /** Check to use where anybody may read /models. */
  check?: CredentialCheck;
  /** Looked at before OpenAI's own. */
  rules?: readonly FailureRule[];
}

/** The common part of every request with one access. */
interface ApiCall {
  root: string;
  credentials: Readonly<Record<string, string>>;
}

/** A provider that speaks OpenAI's wire formats under its own address: most of the field. */
export function openAiCompatible(options: OpenAiCompatibleOptions): Provider {
  const {
    slug,
    name,
    credentialEnv,
    baseUrlEnv,
    defaultBaseUrl,
    root = '',
    isKeyless = false,
    keyHeader,
    dialects = ['chat'],
    batches,
    quirks = {},
    check,
    rules = [],
  } = options;
  const allRules = [...rules, ...OPENAI_RULES];
  // The access of the operator is one object for all requests.
  const known = new WeakMap<ProviderAccess, ApiCall>();
  const callOf = (access: ProviderAccess): ApiCall => {
    let call = known.get(access);
    if (call === undefined) {
      call = { root: rootOf(access, root), credentials: keyed(access, keyHeader) };
      known.set(access, call);
    }
    return call;
  };
  return {
    slug,
    name,
    dialects,
    ...(batches === undefined ? {} : { batches }),
    credentialEnv,
    baseUrlEnv,
    defaultBaseUrl,
    isKeyless,
    check,
    prepare: (request, access) => {
      const call = callOf(access);
      return upstreamRequest(request, `${call.root}${request.path}`, call.credentials);
    },
    quirks: () => quirks,
    classify: (signal) => classifyFailure(name, allRules, signal),
  };
}

/**
 * Returns the address at which the API begins. An address that ends at its host gets the API's path, and one that ends
 * within that path the rest of it; any other path is the operator's own.
 */
function rootOf({ baseUrl, credential }: ProviderAccess, root: string): string {
  const address = credential.kind === 'azure' ? credential.endpoint.replace(/\/+$/, '') : baseUrl;
  if (root === '') return address;
  const steps = root.split('/').slice(1);
  for (let begun = steps.length; begun > 0; begun -= 1) {
    const beginning = `/${steps.slice(0, begun).join('/')}`;
    if (address.endsWith(beginning)) return `${address}${root.slice(beginning.length)}`;
  }
  return /^https?:\/\/[^/]+$/.test(address) ? `${address}${root}` : address;
}

/** Returns nothing for a token that a cloud issues: the provider adds it once it has it. */
function keyed(access: ProviderAccess, header: string | undefined): Record<string, string> {
  if (access.credential.kind === 'issued_token') return {};
  const key = access.credential.kind === 'azure' ? access.credential.key : apiKeyOf(access);
  if (key === '') return {};
  return header === undefined ? { authorization: `Bearer ${key}` } : { [header]: key };
}

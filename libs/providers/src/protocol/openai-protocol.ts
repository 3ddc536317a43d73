import type { DialectName } from '@gateway/contracts';
import type { Quirks } from '@gateway/dialects';
import { classifyFailure, type FailureRule } from '../failure/classify.js';
import { OPENAI_RULES } from '../failure/openai-rules.js';
import type { Provider } from '../provider.js';
import { upstreamRequest } from '../transport.js';

export interface OpenAiCompatibleOptions {
  slug: string;
  name: string;
  credentialEnv: string;
  baseUrlEnv: string;
  /** Up to and with the version segment, as the OpenAI SDKs write base URLs. */
  defaultBaseUrl: string;
  dialects?: readonly DialectName[];
  quirks?: Quirks;
  /** Looked at before OpenAI's own. */
  rules?: readonly FailureRule[];
}

/** A provider that speaks OpenAI's wire formats under its own address: most of the field. */
export function openAiCompatible(options: OpenAiCompatibleOptions): Provider {
  const {
    slug,
    name,
    credentialEnv,
    baseUrlEnv,
    defaultBaseUrl,
    dialects = ['chat'],
    quirks = {},
    rules = [],
  } = options;
  const allRules = [...rules, ...OPENAI_RULES];
  return {
    slug,
    name,
    dialects,
    credentialEnv,
    baseUrlEnv,
    defaultBaseUrl,
    prepare: (request, { baseUrl, credential }) =>
      upstreamRequest(request, `${baseUrl}${request.path}`, { authorization: `Bearer ${credential.key}` }),
    quirks: () => quirks,
    classify: (signal) => classifyFailure(name, allRules, signal),
  };
}

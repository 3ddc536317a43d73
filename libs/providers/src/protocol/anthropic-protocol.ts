import type { Quirks } from '@gateway/dialects';
import { ANTHROPIC_RULES } from '../failure/anthropic-rules.js';
import { classifyFailure } from '../failure/classify.js';
import { apiKeyOf, type Provider } from '../provider.js';
import { upstreamRequest } from '../transport.js';

export interface AnthropicCompatibleOptions {
  slug: string;
  name: string;
  credentialEnv: string;
  baseUrlEnv: string;
  /** Address without the version segment, as the Anthropic SDKs write base URLs. */
  defaultBaseUrl: string;
  batches?: string;
  quirks?: Quirks;
}

/** A provider that speaks Anthropic's messages format. */
export function anthropicCompatible(options: AnthropicCompatibleOptions): Provider {
  const { slug, name, credentialEnv, baseUrlEnv, defaultBaseUrl, batches, quirks = {} } = options;
  return {
    slug,
    name,
    dialects: ['messages'],
    ...(batches === undefined ? {} : { batches }),
    credentialEnv,
    baseUrlEnv,
    defaultBaseUrl,
    check: { path: '/models', headers: { 'anthropic-version': '2023-06-01' } },
    prepare: (request, access) =>
      upstreamRequest(request, `${access.baseUrl}/v1${request.path}`, { 'x-api-key': apiKeyOf(access) }),
    quirks: () => quirks,
    classify: (signal) => classifyFailure(name, ANTHROPIC_RULES, signal),
  };
}

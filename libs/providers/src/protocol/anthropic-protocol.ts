import type { Quirks } from '@gateway/dialects';
import { ANTHROPIC_RULES } from '../failure/anthropic-rules.js';
import { classifyFailure } from '../failure/classify.js';
import type { Provider } from '../provider.js';

export interface AnthropicCompatibleOptions {
  slug: string;
  name: string;
  credentialEnv: string;
  baseUrlEnv: string;
  /** Without the version segment, as the Anthropic SDKs write base URLs. */
  defaultBaseUrl: string;
  quirks?: Quirks;
}

/** The version that is a superset of later ones; a newer one only where the caller asked for it (wire-formats 0). */
const DEFAULT_VERSION = '2023-06-01';

/** A provider that speaks Anthropic's messages format. */
export function anthropicCompatible(options: AnthropicCompatibleOptions): Provider {
  const { slug, name, credentialEnv, baseUrlEnv, defaultBaseUrl, quirks = {} } = options;
  return {
    slug,
    name,
    dialects: ['messages'],
    credentialEnv,
    baseUrlEnv,
    defaultBaseUrl,
    endpoint: (_route, access, caller) => ({
      url: `${access.baseUrl}/v1/messages`,
      headers: {
        'x-api-key': access.credential,
        'anthropic-version': caller.anthropicVersion ?? DEFAULT_VERSION,
        ...(caller.anthropicBeta.length === 0 ? {} : { 'anthropic-beta': caller.anthropicBeta.join(',') }),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
    }),
    quirks: () => quirks,
    classify: (signal) => classifyFailure(name, ANTHROPIC_RULES, signal),
  };
}

import { anthropicCompatible } from '../protocol/anthropic-protocol.js';

export const provider = anthropicCompatible({
  slug: 'anthropic',
  name: 'Anthropic',
  credentialEnv: 'ANTHROPIC_API_KEY',
  baseUrlEnv: 'ANTHROPIC_BASE_URL',
  defaultBaseUrl: 'https://api.anthropic.com',
  batches: 'anthropic-batches',
  quirks: { takesNewer: true },
});

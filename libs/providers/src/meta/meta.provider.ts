import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'meta',
  name: 'Meta',
  credentialEnv: 'META_API_KEY',
  baseUrlEnv: 'META_BASE_URL',
  defaultBaseUrl: 'https://api.meta.ai/v1',
  quirks: { maxTokensParam: 'max_completion_tokens', systemRole: 'system' },
});

import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'brave',
  name: 'Brave Search',
  credentialEnv: 'BRAVE_API_KEY',
  baseUrlEnv: 'BRAVE_BASE_URL',
  defaultBaseUrl: 'https://api.search.brave.com/res/v1',
  keyHeader: 'x-subscription-token',
  check: { path: '/web/search' },
  dialects: ['brave-search'],
  rules: [
    { names: ['SUBSCRIPTION_TOKEN_INVALID'], verdict: 'auth' },
    { names: ['QUOTA_LIMITED', 'USAGE_LIMIT_EXCEEDED'], verdict: 'quota' },
    { status: 422, verdict: 'invalid_request' },
  ],
});

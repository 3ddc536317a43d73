import { keyedProvider } from '../protocol/keyed-protocol.js';

export const provider = keyedProvider({
  slug: 'stability',
  name: 'Stability AI',
  dialects: ['stability'],
  credentialEnv: 'STABILITY_API_KEY',
  baseUrlEnv: 'STABILITY_BASE_URL',
  defaultBaseUrl: 'https://api.stability.ai',
  check: { path: '/v1/user/balance' },
  headersOf: (key) => ({ authorization: `Bearer ${key}` }),
  // 401 is a wrong key.
  rules: [
    { status: 403, verdict: 'content_policy' },
    { status: 402, verdict: 'quota' },
  ],
});

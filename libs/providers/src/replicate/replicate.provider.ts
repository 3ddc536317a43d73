import { keyedProvider } from '../protocol/keyed-protocol.js';

export const provider = keyedProvider({
  slug: 'replicate',
  name: 'Replicate',
  dialects: ['replicate-images'],
  credentialEnv: 'REPLICATE_API_TOKEN',
  baseUrlEnv: 'REPLICATE_BASE_URL',
  defaultBaseUrl: 'https://api.replicate.com/v1',
  check: { path: '/account' },
  hosts: { api: ['replicate.com'], results: ['replicate.delivery'] },
  headersOf: (key) => ({ authorization: `Bearer ${key}` }),
});

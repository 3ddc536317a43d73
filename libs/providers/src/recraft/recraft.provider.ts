import { keyedProvider } from '../protocol/keyed-protocol.js';

export const provider = keyedProvider({
  slug: 'recraft',
  name: 'Recraft',
  dialects: ['recraft'],
  credentialEnv: 'RECRAFT_API_KEY',
  baseUrlEnv: 'RECRAFT_BASE_URL',
  defaultBaseUrl: 'https://external.api.recraft.ai/v1',
  check: { path: '/users/me' },
  headersOf: (key) => ({ authorization: `Bearer ${key}` }),
});

import { keyedProvider } from '../protocol/keyed-protocol.js';

export const provider = keyedProvider({
  slug: 'luma',
  name: 'Luma',
  dialects: ['luma-images', 'luma-video'],
  credentialEnv: 'LUMA_API_KEY',
  baseUrlEnv: 'LUMA_BASE_URL',
  defaultBaseUrl: 'https://api.lumalabs.ai/dream-machine/v1',
  check: { path: '/credits' },
  hosts: { api: [], results: ['cdn-luma.com', 'lumalabs.ai'] },
  headersOf: (key) => ({ authorization: `Bearer ${key}` }),
});

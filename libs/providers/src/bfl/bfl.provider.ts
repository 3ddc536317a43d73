import { keyedProvider } from '../protocol/keyed-protocol.js';

/** A task is looked at in the region that took it. */
export const provider = keyedProvider({
  slug: 'bfl',
  name: 'Black Forest Labs',
  dialects: ['bfl'],
  credentialEnv: 'BFL_API_KEY',
  baseUrlEnv: 'BFL_BASE_URL',
  defaultBaseUrl: 'https://api.bfl.ai',
  check: { path: '/v1/credits' },
  hosts: { api: ['bfl.ai', 'bfl.ml'], results: ['bfl.ai', 'bfl.ml'] },
  headersOf: (key) => ({ 'x-key': key }),
  rules: [{ status: 402, verdict: 'quota' }],
});

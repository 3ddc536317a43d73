import { keyedProvider } from '../protocol/keyed-protocol.js';

export const provider = keyedProvider({
  slug: 'ideogram',
  name: 'Ideogram',
  dialects: ['ideogram'],
  credentialEnv: 'IDEOGRAM_API_KEY',
  baseUrlEnv: 'IDEOGRAM_BASE_URL',
  defaultBaseUrl: 'https://api.ideogram.ai',
  // It has no read that needs the key.
  check: { path: '/v1/ideogram-v3/generate', sendsNothing: true },
  hosts: { api: [], results: ['ideogram.ai'] },
  headersOf: (key) => ({ 'api-key': key }),
  // The prompt failed its safety check.
  rules: [{ status: 422, verdict: 'content_policy' }],
});

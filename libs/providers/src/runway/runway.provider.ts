import { keyedProvider } from '../protocol/keyed-protocol.js';

export const provider = keyedProvider({
  slug: 'runway',
  name: 'Runway',
  dialects: ['runway'],
  credentialEnv: 'RUNWAYML_API_SECRET',
  baseUrlEnv: 'RUNWAYML_BASE_URL',
  defaultBaseUrl: 'https://api.dev.runwayml.com',
  check: { path: '/v1/organization' },
  hosts: { api: [], results: ['dnznrvs05pmza.cloudfront.net', 'runwayml.com'] },
  headersOf: (key) => ({ authorization: `Bearer ${key}`, 'x-runway-version': '2024-11-06' }),
  rules: [{ status: 400, message: /not enough credits|insufficient credits/i, verdict: 'quota' }],
});

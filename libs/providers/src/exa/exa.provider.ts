import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'exa',
  name: 'Exa',
  credentialEnv: 'EXA_API_KEY',
  baseUrlEnv: 'EXA_BASE_URL',
  defaultBaseUrl: 'https://api.exa.ai',
  keyHeader: 'x-api-key',
  check: { path: '/search', sendsNothing: true },
  dialects: ['exa-search'],
});

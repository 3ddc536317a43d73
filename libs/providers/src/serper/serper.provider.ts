import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'serper',
  name: 'Serper',
  credentialEnv: 'SERPER_API_KEY',
  baseUrlEnv: 'SERPER_BASE_URL',
  defaultBaseUrl: 'https://google.serper.dev',
  keyHeader: 'x-api-key',
  check: { path: '/search', sendsNothing: true },
  dialects: ['serper-search'],
  rules: [
    { message: /not enough credits/i, verdict: 'quota' },
    { status: 403, verdict: 'auth' },
  ],
});

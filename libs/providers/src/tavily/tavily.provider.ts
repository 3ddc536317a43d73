import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'tavily',
  name: 'Tavily',
  credentialEnv: 'TAVILY_API_KEY',
  baseUrlEnv: 'TAVILY_BASE_URL',
  defaultBaseUrl: 'https://api.tavily.com',
  check: { path: '/search', sendsNothing: true },
  dialects: ['tavily-search'],
  // Limits of the plan and of what is paid as it goes.
  rules: [{ status: [432, 433], verdict: 'quota' }],
});

import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'deepinfra',
  name: 'DeepInfra',
  credentialEnv: 'DEEPINFRA_API_KEY',
  baseUrlEnv: 'DEEPINFRA_BASE_URL',
  defaultBaseUrl: 'https://api.deepinfra.com/v1/openai',
  check: { path: '/chat/completions', sendsNothing: true },
  quirks: {
    maxTokensParam: 'max_tokens',
    systemRole: 'system',
    returnsReasoning: 'reasoning_content',
    returnsAllReasoning: true,
    passthroughParams: true,
    refuses: ['store', 'verbosity', 'safety_identifier'],
  },
});

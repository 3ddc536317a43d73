import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'zai',
  name: 'Z.ai',
  credentialEnv: 'ZAI_API_KEY',
  baseUrlEnv: 'ZAI_BASE_URL',
  defaultBaseUrl: 'https://api.z.ai/api/paas/v4',
  quirks: {
    maxTokensParam: 'max_tokens',
    systemRole: 'system',
    temperatures: [0, 1],
    returnsReasoning: 'reasoning_content',
    refuses: ['store', 'verbosity', 'logit_bias', 'n', 'seed', 'safety_identifier'],
  },
});

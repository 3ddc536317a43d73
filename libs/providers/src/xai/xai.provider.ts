import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'xai',
  name: 'xAI',
  credentialEnv: 'XAI_API_KEY',
  baseUrlEnv: 'XAI_BASE_URL',
  defaultBaseUrl: 'https://api.x.ai/v1',
  dialects: ['chat', 'xai-images'],
  quirks: {
    maxTokensParam: 'max_completion_tokens',
    usageExcludesReasoning: true,
    systemRole: 'system',
    refuses: ['store', 'verbosity', 'logit_bias'],
  },
});

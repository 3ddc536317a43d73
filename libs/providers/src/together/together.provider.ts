import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'together',
  name: 'Together AI',
  credentialEnv: 'TOGETHER_API_KEY',
  baseUrlEnv: 'TOGETHER_BASE_URL',
  defaultBaseUrl: 'https://api.together.xyz/v1',
  dialects: ['chat', 'rerank'],
  quirks: {
    maxTokensParam: 'max_tokens',
    systemRole: 'system',
    returnsReasoning: 'reasoning_content',
    returnsAllReasoning: true,
    passthroughParams: true,
    refuses: ['store', 'verbosity', 'safety_identifier'],
  },
});

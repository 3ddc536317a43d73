import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'moonshotai',
  name: 'Moonshot AI',
  credentialEnv: 'MOONSHOT_API_KEY',
  baseUrlEnv: 'MOONSHOT_BASE_URL',
  defaultBaseUrl: 'https://api.moonshot.ai/v1',
  quirks: {
    maxTokensParam: 'max_tokens',
    systemRole: 'system',
    stopMax: 5,
    temperatures: [0, 1],
    returnsReasoning: 'reasoning_content',
    refuses: ['store', 'verbosity', 'logit_bias', 'safety_identifier'],
  },
});

import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'fireworks',
  name: 'Fireworks AI',
  credentialEnv: 'FIREWORKS_API_KEY',
  baseUrlEnv: 'FIREWORKS_BASE_URL',
  defaultBaseUrl: 'https://api.fireworks.ai/inference/v1',
  quirks: {
    maxTokensParam: 'max_tokens',
    systemRole: 'system',
    returnsReasoning: 'reasoning_content',
    returnsAllReasoning: true,
    passthroughParams: true,
    refuses: ['store', 'verbosity', 'safety_identifier'],
  },
});

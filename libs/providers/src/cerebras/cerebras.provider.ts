import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'cerebras',
  name: 'Cerebras',
  credentialEnv: 'CEREBRAS_API_KEY',
  baseUrlEnv: 'CEREBRAS_BASE_URL',
  defaultBaseUrl: 'https://api.cerebras.ai/v1',
  quirks: {
    maxTokensParam: 'max_completion_tokens',
    systemRole: 'system',
    temperatures: [0, 1.5],
    refuses: ['frequency_penalty', 'presence_penalty', 'logit_bias', 'n', 'store', 'verbosity'],
  },
});

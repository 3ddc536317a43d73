import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'sambanova',
  name: 'SambaNova',
  credentialEnv: 'SAMBANOVA_API_KEY',
  baseUrlEnv: 'SAMBANOVA_BASE_URL',
  defaultBaseUrl: 'https://api.sambanova.ai/v1',
  check: { path: '/chat/completions', sendsNothing: true },
  quirks: {
    maxTokensParam: 'max_tokens',
    systemRole: 'system',
    // Read and ignored there, without a word to the caller.
    refuses: [
      'presence_penalty',
      'frequency_penalty',
      'logit_bias',
      'store',
      'verbosity',
      'safety_identifier',
    ],
  },
});

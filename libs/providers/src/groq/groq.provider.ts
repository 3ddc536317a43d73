import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'groq',
  name: 'Groq',
  credentialEnv: 'GROQ_API_KEY',
  baseUrlEnv: 'GROQ_BASE_URL',
  defaultBaseUrl: 'https://api.groq.com/openai/v1',
  quirks: {
    maxTokensParam: 'max_completion_tokens',
    refuses: ['logprobs', 'top_logprobs', 'logit_bias', 'n', 'store', 'verbosity', 'prompt_cache_key'],
  },
});

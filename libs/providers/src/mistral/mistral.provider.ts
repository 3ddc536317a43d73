import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'mistral',
  name: 'Mistral',
  credentialEnv: 'MISTRAL_API_KEY',
  baseUrlEnv: 'MISTRAL_BASE_URL',
  defaultBaseUrl: 'https://api.mistral.ai/v1',
  dialects: ['chat', 'embeddings', 'transcriptions', 'voxtral', 'mistral-speech'],
  quirks: {
    dimensionsParam: 'output_dimension',
    maxTokensParam: 'max_tokens',
    seedParam: 'random_seed',
    stopMax: Infinity,
    temperatures: [0, 1.5],
    requiredToolChoice: 'any',
    toolCallIdPattern: /^[a-zA-Z0-9]{9}$/,
    includeUsageOption: false,
    systemRole: 'system',
    refuses: [
      'user',
      'safety_identifier',
      'store',
      'logprobs',
      'top_logprobs',
      'logit_bias',
      'verbosity',
      'prompt_cache_key',
      'stream_options',
    ],
  },
  rules: [{ status: 422, verdict: 'invalid_request' }],
});

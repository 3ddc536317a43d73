import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'perplexity',
  name: 'Perplexity',
  credentialEnv: 'PERPLEXITY_API_KEY',
  baseUrlEnv: 'PERPLEXITY_BASE_URL',
  defaultBaseUrl: 'https://api.perplexity.ai',
  check: { path: '/chat/completions', sendsNothing: true },
  dialects: ['chat', 'perplexity-embeddings', 'perplexity-search'],
  quirks: {
    maxTokensParam: 'max_tokens',
    systemRole: 'system',
    includeUsageOption: false,
    refuses: [
      'seed',
      'logit_bias',
      'n',
      'store',
      'verbosity',
      'tools',
      'tool_choice',
      'safety_identifier',
      'user',
    ],
  },
});

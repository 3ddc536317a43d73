import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'minimax',
  name: 'MiniMax',
  credentialEnv: 'MINIMAX_API_KEY',
  baseUrlEnv: 'MINIMAX_BASE_URL',
  defaultBaseUrl: 'https://api.minimax.io/v1',
  check: { path: '/chat/completions', sendsNothing: true },
  quirks: {
    maxTokensParam: 'max_completion_tokens',
    systemRole: 'system',
    refuses: ['store', 'logit_bias', 'n', 'verbosity', 'safety_identifier', 'user'],
  },
});

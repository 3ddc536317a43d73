import { openAiCompatible } from '../protocol/openai-protocol.js';
import type { Provider } from '../provider.js';

const compatible = openAiCompatible({
  slug: 'minimax',
  name: 'MiniMax',
  credentialEnv: 'MINIMAX_API_KEY',
  baseUrlEnv: 'MINIMAX_BASE_URL',
  defaultBaseUrl: 'https://api.minimax.io/v1',
  dialects: ['chat', 'minimax-images', 'minimax-video'],
  check: { path: '/chat/completions', sendsNothing: true },
  quirks: {
    maxTokensParam: 'max_completion_tokens',
    systemRole: 'system',
    returnsReasoning: 'text_details',
    // Zero is refused.
    temperatures: [0.01, 1],
    refuses: ['store', 'logit_bias', 'n', 'verbosity', 'safety_identifier', 'user'],
  },
});

/** Videos have another version of the API, and wait at another host. */
export const provider: Provider = {
  ...compatible,
  hosts: {
    api: [],
    results: ['minimax.io', 'hailuoai.video', 'public-cdn-video-data-algeng.oss-cn-wulanchabu.aliyuncs.com'],
  },
  prepare: (request, access) =>
    compatible.prepare(
      request,
      request.path.startsWith('/v2/') ? { ...access, baseUrl: access.baseUrl.replace(/\/v1$/, '') } : access,
    ),
};

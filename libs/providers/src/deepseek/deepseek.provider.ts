import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'deepseek',
  name: 'DeepSeek',
  credentialEnv: 'DEEPSEEK_API_KEY',
  baseUrlEnv: 'DEEPSEEK_BASE_URL',
  defaultBaseUrl: 'https://api.deepseek.com',
  dialects: ['chat', 'responses'],
  quirks: {
    maxTokensParam: 'max_tokens',
    systemRole: 'system',
    stopMax: 16,
    returnsReasoning: 'reasoning_content',
    refuses: ['seed', 'logit_bias', 'n', 'store', 'verbosity', 'safety_identifier', 'user'],
  },
  // Its wrong-key answer carries the code invalid_request_error: the status decides.
  rules: [
    { status: 401, verdict: 'auth' },
    { status: 402, verdict: 'quota' },
    { status: 422, verdict: 'invalid_request' },
  ],
});

import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'openrouter',
  name: 'OpenRouter',
  credentialEnv: 'OPENROUTER_API_KEY',
  baseUrlEnv: 'OPENROUTER_BASE_URL',
  defaultBaseUrl: 'https://openrouter.ai/api/v1',
  dialects: ['chat', 'responses', 'embeddings', 'openrouter-video'],
  check: { path: '/key' },
  quirks: {
    maxTokensParam: 'max_tokens',
    reasoningParam: 'reasoning',
    returnsReasoning: 'reasoning_details',
    passthroughParams: true,
  },
  rules: [
    { status: 403, message: /moderation|flagged/i, verdict: 'content_policy' },
    { names: ['402'], verdict: 'quota' },
    { names: ['429'], verdict: 'rate' },
  ],
});

import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'vllm',
  name: 'vLLM',
  credentialEnv: 'VLLM_API_KEY',
  baseUrlEnv: 'VLLM_BASE_URL',
  defaultBaseUrl: 'http://127.0.0.1:8000/v1',
  root: '/v1',
  isKeyless: true,
  dialects: ['chat', 'embeddings', 'rerank'],
  quirks: {
    maxTokensParam: 'max_tokens',
    systemRole: 'system',
    passthroughParams: true,
    takesTokenIds: true,
    returnsReasoning: 'both',
    stopMax: Infinity,
  },
});

import { openAiCompatible } from '../protocol/openai-protocol.js';

/** Any server that speaks chat completions: vLLM, llama.cpp, LM Studio and the like. */
export const provider = openAiCompatible({
  slug: 'openai-compatible',
  name: 'OpenAI-compatible server',
  credentialEnv: 'OPENAI_COMPATIBLE_API_KEY',
  baseUrlEnv: 'OPENAI_COMPATIBLE_BASE_URL',
  defaultBaseUrl: 'http://127.0.0.1:8000/v1',
  root: '/v1',
  isKeyless: true,
  quirks: {
    maxTokensParam: 'max_tokens',
    passthroughParams: true,
    stopMax: Infinity,
    returnsReasoning: 'both',
  },
});

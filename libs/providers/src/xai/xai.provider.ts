import { openAiCompatible } from '../protocol/openai-protocol.js';

const compatible = openAiCompatible({
  slug: 'xai',
  name: 'xAI',
  credentialEnv: 'XAI_API_KEY',
  baseUrlEnv: 'XAI_BASE_URL',
  defaultBaseUrl: 'https://api.x.ai/v1',
  dialects: ['chat', 'responses', 'xai-images', 'xai-video', 'realtime'],
  quirks: {
    maxTokensParam: 'max_completion_tokens',
    usageExcludesReasoning: true,
    systemRole: 'system',
    refuses: ['store', 'verbosity', 'logit_bias'],
  },
});

/** Finished videos wait at another host. */
export const provider = { ...compatible, hosts: { api: [], results: ['x.ai'] } };

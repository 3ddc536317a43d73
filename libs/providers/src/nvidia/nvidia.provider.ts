import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'nvidia',
  name: 'NVIDIA',
  credentialEnv: 'NVIDIA_API_KEY',
  baseUrlEnv: 'NVIDIA_BASE_URL',
  defaultBaseUrl: 'https://integrate.api.nvidia.com/v1',
  check: { path: '/chat/completions', sendsNothing: true },
  quirks: {
    maxTokensParam: 'max_tokens',
    systemRole: 'system',
    refuses: ['store', 'verbosity', 'safety_identifier', 'logit_bias', 'n'],
  },
});

import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'alibaba',
  name: 'Alibaba Cloud',
  credentialEnv: 'DASHSCOPE_API_KEY',
  baseUrlEnv: 'DASHSCOPE_BASE_URL',
  defaultBaseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
  quirks: {
    maxTokensParam: 'max_tokens',
    systemRole: 'system',
    refuses: ['store', 'verbosity', 'safety_identifier'],
  },
});

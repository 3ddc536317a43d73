import { keyedProvider } from '../protocol/keyed-protocol.js';

export const provider = keyedProvider({
  slug: 'bytedance',
  name: 'ByteDance',
  dialects: ['seedance'],
  credentialEnv: 'ARK_API_KEY',
  baseUrlEnv: 'ARK_BASE_URL',
  defaultBaseUrl: 'https://ark.ap-southeast.bytepluses.com/api/v3',
  check: { path: '/contents/generations/tasks?page_size=1' },
  hosts: {
    api: [],
    results: [
      'ark-content-generation-ap-southeast-1.tos-ap-southeast-1.volces.com',
      'ark-content-generation-cn-beijing.tos-cn-beijing.volces.com',
      'bytepluses.com',
    ],
  },
  headersOf: (key) => ({ authorization: `Bearer ${key}` }),
  rules: [
    { names: ['InvalidAction', 'ModelNotOpen', 'InvalidEndpointOrModel.NotFound'], verdict: 'model_missing' },
    {
      names: [
        'InputTextSensitiveContentDetected',
        'InputImageSensitiveContentDetected',
        'InputVideoSensitiveContentDetected',
        'OutputVideoSensitiveContentDetected',
        'SensitiveContentDetected',
      ],
      verdict: 'content_policy',
    },
    { names: ['AccountOverdueError', 'QuotaExceeded', 'SetLimitExceeded'], verdict: 'quota' },
    { names: ['AuthenticationError', 'InvalidAccountStatus'], verdict: 'auth' },
  ],
});

import { openAiCompatible } from '../protocol/openai-protocol.js';

const compatible = openAiCompatible({
  slug: 'xai',
  name: 'xAI',
  credentialEnv: 'XAI_API_KEY',
  baseUrlEnv: 'XAI_BASE_URL',
  defaultBaseUrl: 'https://api.x.ai/v1',
  dialects: ['chat', 'responses', 'xai-images', 'xai-video', 'realtime', 'xai-speech', 'xai-transcriptions'],
  quirks: {
    maxTokensParam: 'max_completion_tokens',
    usageExcludesReasoning: true,
    systemRole: 'system',
    refuses: ['store', 'verbosity', 'logit_bias'],
  },
  rules: [
    // A voice of the caller's choice: another route may have it.
    {
      status: [400, 404, 422],
      message:
        /\bvoice\b.{0,80}(not found|not exist|invalid|unknown|unsupported)|(invalid|unknown|unsupported) voice/i,
      verdict: 'unsupported',
    },
  ],
});

/** Finished videos wait at another host. */
export const provider = { ...compatible, hosts: { api: [], results: ['x.ai'] } };

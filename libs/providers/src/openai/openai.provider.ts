import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'openai',
  name: 'OpenAI',
  credentialEnv: 'OPENAI_API_KEY',
  baseUrlEnv: 'OPENAI_BASE_URL',
  defaultBaseUrl: 'https://api.openai.com/v1',
  dialects: [
    'chat',
    'responses',
    'embeddings',
    'images',
    'moderations',
    'speech',
    'transcriptions',
    'whisper',
    'realtime',
  ],
  batches: 'openai-batches',
  quirks: { maxTokensParam: 'max_completion_tokens', takesTokenIds: true },
});

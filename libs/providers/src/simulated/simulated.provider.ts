import { openAiCompatible } from '../protocol/openai-protocol.js';

/** The built-in provider behind a first request; the fleet sets its address. */
export const provider = openAiCompatible({
  slug: 'simulated',
  name: 'Simulator',
  credentialEnv: 'SIMULATED_API_KEY',
  baseUrlEnv: 'SIMULATED_BASE_URL',
  defaultBaseUrl: 'http://127.0.0.1:4010/v1',
  dialects: [
    'chat',
    'responses',
    'images',
    'recraft',
    'xai-images',
    'moderations',
    'embeddings',
    'speech',
    'transcriptions',
    'whisper',
    'deepgram',
    'perplexity-search',
    'rerank',
    'openrouter-video',
    'realtime',
    'gemini-live',
  ],
  batches: 'openai-batches',
  quirks: { maxTokensParam: 'max_completion_tokens', takesTokenIds: true },
});

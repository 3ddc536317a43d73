import type { Quirks } from '@gateway/dialects';
import type { Provider } from '../provider.js';
import { openAiCompatible } from '../protocol/openai-protocol.js';

const QUIRKS: Quirks = { maxTokensParam: 'max_completion_tokens', takesTokenIds: true };
const CACHING: Quirks = { ...QUIRKS, cacheBreakpoints: true };

const openai = openAiCompatible({
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
});

/** Models that bill what they write into the cache are those that take breakpoints: GPT-5.6 and later. Others refuse them. */
export const provider: Provider = {
  ...openai,
  quirks: ({ price }) => (price.cache_write_input_usd_per_1m == null ? QUIRKS : CACHING),
};

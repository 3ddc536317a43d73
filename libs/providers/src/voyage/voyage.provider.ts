import { openAiCompatible } from '../protocol/openai-protocol.js';

export const provider = openAiCompatible({
  slug: 'voyage',
  name: 'Voyage AI',
  credentialEnv: 'VOYAGE_API_KEY',
  baseUrlEnv: 'VOYAGE_BASE_URL',
  defaultBaseUrl: 'https://api.voyageai.com/v1',
  check: { path: '/embeddings', sendsNothing: true },
  dialects: ['embeddings', 'voyage-rerank'],
  quirks: { dimensionsParam: 'output_dimension', refuses: ['encoding_format', 'user', 'safety_identifier'] },
});

import { openAiCompatible } from '../protocol/openai-protocol.js';

/** The router of Hugging Face; a model may name its host: `org/model:host`. */
export const provider = openAiCompatible({
  slug: 'huggingface',
  name: 'Hugging Face',
  credentialEnv: 'HF_TOKEN',
  baseUrlEnv: 'HF_BASE_URL',
  defaultBaseUrl: 'https://router.huggingface.co/v1',
  check: { path: '/chat/completions', sendsNothing: true },
  quirks: { maxTokensParam: 'max_tokens', systemRole: 'system', passthroughParams: true },
});

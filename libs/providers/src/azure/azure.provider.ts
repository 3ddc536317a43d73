import { openAiCompatible } from '../protocol/openai-protocol.js';

/** Azure OpenAI under its version 1 address; the model of a route is the name of a deployment. */
export const provider = openAiCompatible({
  slug: 'azure',
  name: 'Azure OpenAI',
  credentialEnv: 'AZURE_OPENAI_API_KEY',
  baseUrlEnv: 'AZURE_OPENAI_BASE_URL',
  // Every resource has its own address, https://<resource>.openai.azure.com: without it the provider is not enabled.
  defaultBaseUrl: 'https://resource.invalid/openai/v1',
  root: '/openai/v1',
  keyHeader: 'api-key',
  dialects: ['chat', 'responses', 'embeddings'],
  quirks: { maxTokensParam: 'max_completion_tokens', takesTokenIds: true },
  rules: [{ status: 429, names: ['429'], message: /quota/i, verdict: 'rate' }],
});

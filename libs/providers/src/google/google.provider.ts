import { classifyFailure } from '../failure/classify.js';
import { GOOGLE_RULES } from '../failure/google-rules.js';
import { OPENAI_RULES } from '../failure/openai-rules.js';
import { apiKeyOf, type Provider } from '../provider.js';
import { upstreamRequest } from '../transport.js';

const NAME = 'Google';
const RULES = [...GOOGLE_RULES, ...OPENAI_RULES];

/** AI Studio: its own format below /v1beta, OpenAI's below /v1beta/openai. */
export const provider: Provider = {
  slug: 'google',
  name: NAME,
  dialects: ['gemini', 'gemini-embeddings', 'chat', 'embeddings'],
  credentialEnv: 'GEMINI_API_KEY',
  baseUrlEnv: 'GEMINI_BASE_URL',
  defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  prepare: (request, access) => {
    const { baseUrl } = access;
    const key = apiKeyOf(access);
    const root = `${baseUrl.replace(/\/v1beta$/, '')}/v1beta`;
    return request.path.startsWith('/models/')
      ? upstreamRequest(request, `${root}${request.path}`, { 'x-goog-api-key': key })
      : upstreamRequest(request, `${root}/openai${request.path}`, { authorization: `Bearer ${key}` });
  },
  quirks: () => ({
    maxTokensParam: 'max_completion_tokens',
    systemRole: 'system',
    refuses: ['store', 'logit_bias', 'verbosity', 'safety_identifier', 'user'],
  }),
  classify: (signal) => classifyFailure(NAME, RULES, signal),
};

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
  dialects: [
    'gemini',
    'gemini-embeddings',
    'gemini-transcriptions',
    'gemini-speech',
    'gemini-live',
    'chat',
    'embeddings',
  ],
  batches: 'gemini-batches',
  credentialEnv: 'GEMINI_API_KEY',
  baseUrlEnv: 'GEMINI_BASE_URL',
  defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  prepare: (request, access) => {
    const { baseUrl } = access;
    const key = apiKeyOf(access);
    const withKey = { 'x-goog-api-key': key };
    const host = baseUrl.replace(/\/v1beta$/, '');
    // These name their version themselves.
    if (/^\/(ws|upload|download)\//.test(request.path))
      return upstreamRequest(request, `${host}${request.path}`, withKey);
    const root = `${host}/v1beta`;
    return /^\/(models\/|batches(?![^/?]))/.test(request.path)
      ? upstreamRequest(request, `${root}${request.path}`, withKey)
      : upstreamRequest(request, `${root}/openai${request.path}`, { authorization: `Bearer ${key}` });
  },
  quirks: () => ({
    maxTokensParam: 'max_completion_tokens',
    systemRole: 'system',
    refuses: ['store', 'logit_bias', 'verbosity', 'safety_identifier', 'user'],
  }),
  classify: (signal) => classifyFailure(NAME, RULES, signal),
};

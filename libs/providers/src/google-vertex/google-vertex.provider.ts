import { classifyFailure } from '../failure/classify.js';
import { GOOGLE_RULES } from '../failure/google-rules.js';
import { OPENAI_RULES } from '../failure/openai-rules.js';
import { apiKeyOf, type Provider } from '../provider.js';
import { TransportFailure, upstreamRequest } from '../transport.js';
import { AccessTokens } from './access-tokens.js';
import { accessFrom, GLOBAL_ENDPOINT, rootFor } from './vertex-access.js';

const NAME = 'Google Vertex AI';
const RULES = [...GOOGLE_RULES, ...OPENAI_RULES];
const tokens = new AccessTokens();

/** Gemini on Vertex AI, below the project and location of its credential. */
export const provider: Provider = {
  slug: 'google-vertex',
  name: NAME,
  dialects: ['gemini', 'vertex-embeddings', 'chat'],
  credentialEnv: 'GOOGLE_VERTEX_API_KEY',
  baseUrlEnv: 'GOOGLE_VERTEX_BASE_URL',
  defaultBaseUrl: GLOBAL_ENDPOINT,
  accessFrom,
  check: { path: '/models/gemini-2.5-flash:countTokens', sendsNothing: true },
  prepare: (request, access) => {
    const { baseUrl, credential } = access;
    const path = request.path.startsWith('/models/')
      ? `/publishers/google${request.path}`
      : `/endpoints/openapi${request.path}`;
    if (credential.kind !== 'vertex') {
      const key = apiKeyOf(access);
      const headers: Record<string, string> = key.startsWith('ya29.')
        ? { authorization: `Bearer ${key}` }
        : { 'x-goog-api-key': key };
      return upstreamRequest(request, `${baseUrl}/v1${path}`, headers);
    }
    const url = `${rootFor(baseUrl, credential)}${path}`;
    return tokens.token(credential).then(
      (token) => upstreamRequest(request, url, { authorization: `Bearer ${token}` }),
      (error: unknown) => {
        throw new TransportFailure('connect', error);
      },
    );
  },
  quirks: () => ({ maxTokensParam: 'max_completion_tokens', systemRole: 'system' }),
  classify: (signal) => classifyFailure(NAME, RULES, signal),
};

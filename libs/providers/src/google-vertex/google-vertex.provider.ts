import type { Quirks } from '@gateway/dialects';
import { ANTHROPIC_RULES } from '../failure/anthropic-rules.js';
import { classifyFailure } from '../failure/classify.js';
import { GOOGLE_RULES } from '../failure/google-rules.js';
import { OPENAI_RULES } from '../failure/openai-rules.js';
import { apiKeyOf, type Provider } from '../provider.js';
import { TransportFailure, upstreamRequest } from '../transport.js';
import { AccessTokens } from './access-tokens.js';
import { accessFrom, GLOBAL_ENDPOINT, urlFor } from './vertex-access.js';

const NAME = 'Google Vertex AI';
const RULES = [...GOOGLE_RULES, ...ANTHROPIC_RULES, ...OPENAI_RULES];
const tokens = new AccessTokens();

/** Claude here: the messages format at an address of each model, with a version of the host's own. */
const CLAUDE: Quirks = {
  messagesPlace: {
    version: 'vertex-2023-10-16',
    path: (model, isStream) =>
      `/publishers/anthropic/models/${nameOf(model)}:${isStream ? 'streamRawPredict' : 'rawPredict'}`,
    // As LiteLLM's table of betas by provider had it in November 2026.
    betas:
      /^(compact|computer-use|context-1m|context-management|dangerous-tool-use|interleaved-thinking|per-turn-control|thinking-binding-controls|thinking-display-updates|tool-search-tool|web-search)-/,
  },
  refuses: ['service_tier'],
};
const OTHERS: Quirks = { maxTokensParam: 'max_completion_tokens', systemRole: 'system' };

/** A name with its version behind an @, which stands for itself in a path. */
function nameOf(model: string): string {
  return encodeURIComponent(model).replaceAll('%40', '@');
}

/** Returns a dialect's path below the project; an operation's path names its project itself. */
function placed(path: string): string {
  if (/^\/(?:publishers|projects)\//.test(path)) return path;
  return path.startsWith('/models/') ? `/publishers/google${path}` : `/endpoints/openapi${path}`;
}

/** Gemini, Claude and Veo on Vertex AI, below the project and location of its credential. */
export const provider: Provider = {
  slug: 'google-vertex',
  name: NAME,
  dialects: ['gemini', 'messages', 'vertex-embeddings', 'vertex-veo', 'chat'],
  credentialEnv: 'GOOGLE_VERTEX_API_KEY',
  baseUrlEnv: 'GOOGLE_VERTEX_BASE_URL',
  defaultBaseUrl: GLOBAL_ENDPOINT,
  furtherEnv: {
    GOOGLE_CLOUD_PROJECT: "default: the service account's",
    GOOGLE_CLOUD_LOCATION: 'default: global',
  },
  accessFrom,
  check: { path: '/models/gemini-2.5-flash:countTokens', sendsNothing: true },
  prepare: (request, access) => {
    const { baseUrl, credential } = access;
    const path = placed(request.path);
    if (credential.kind !== 'vertex') {
      const key = apiKeyOf(access);
      const headers: Record<string, string> = key.startsWith('ya29.')
        ? { authorization: `Bearer ${key}` }
        : { 'x-goog-api-key': key };
      return upstreamRequest(request, `${baseUrl}/v1${path}`, headers);
    }
    const url = urlFor(baseUrl, credential, path);
    return tokens.token(credential).then(
      (token) => upstreamRequest(request, url, { authorization: `Bearer ${token}` }),
      (error: unknown) => {
        throw new TransportFailure('connect', error);
      },
    );
  },
  quirks: ({ dialect }) => (dialect === 'messages' ? CLAUDE : OTHERS),
  classify: (signal) => classifyFailure(NAME, RULES, signal),
};

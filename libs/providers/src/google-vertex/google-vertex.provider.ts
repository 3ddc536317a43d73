import type { Quirks } from '@gateway/dialects';
import { ANTHROPIC_RULES } from '../failure/anthropic-rules.js';
import { classifyFailure } from '../failure/classify.js';
import { GOOGLE_RULES } from '../failure/google-rules.js';
import { OPENAI_RULES } from '../failure/openai-rules.js';
import type { Issued } from '../issued/issued.js';
import { apiKeyOf, type Provider, type ProviderAccess } from '../provider.js';
import { TransportFailure, upstreamRequest } from '../transport.js';
import { AccessTokens } from './access-tokens.js';
import { accessFrom, FURTHER_ENV, GLOBAL_ENDPOINT, urlFor, type Place } from './vertex-access.js';

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

/** Returns the token of a service account or of the machine, and where it is used; null for a plain key. */
function issuedOf({ credential }: ProviderAccess): { token: Issued<string>; place: Place } | null {
  if (credential.kind === 'vertex') return { token: tokens.of(credential), place: credential };
  if (credential.kind !== 'issued_token' || credential.place === undefined) return null;
  return { token: credential.token, place: credential.place };
}

/** Gemini, Claude and Veo on Vertex AI, below the project and location of its credential. */
export const provider: Provider = {
  slug: 'google-vertex',
  name: NAME,
  dialects: ['gemini', 'messages', 'vertex-embeddings', 'vertex-veo', 'chat'],
  credentialEnv: 'GOOGLE_VERTEX_API_KEY',
  baseUrlEnv: 'GOOGLE_VERTEX_BASE_URL',
  defaultBaseUrl: GLOBAL_ENDPOINT,
  furtherEnv: FURTHER_ENV,
  accessFrom,
  check: { path: '/models/gemini-2.5-flash:countTokens', sendsNothing: true },
  prepare: (request, access) => {
    const { baseUrl } = access;
    const path = placed(request.path);
    const issued = issuedOf(access);
    if (issued === null) {
      const key = apiKeyOf(access);
      const headers: Record<string, string> = key.startsWith('ya29.')
        ? { authorization: `Bearer ${key}` }
        : { 'x-goog-api-key': key };
      return upstreamRequest(request, `${baseUrl}/v1${path}`, headers);
    }
    const url = urlFor(baseUrl, issued.place, path);
    return issued.token.current().then(
      (token) => upstreamRequest(request, url, { authorization: `Bearer ${token}` }),
      (error: unknown) => {
        throw new TransportFailure('connect', error);
      },
    );
  },
  renew: (access, { headers }, { status }) =>
    status === 401 &&
    (issuedOf(access)?.token.renew((token) => headers.authorization === `Bearer ${token}`) ?? false),
  quirks: ({ dialect }) => (dialect === 'messages' ? CLAUDE : OTHERS),
  classify: (signal) => classifyFailure(NAME, RULES, signal),
};

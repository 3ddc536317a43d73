import { classifyFailure, type FailureRule } from '../failure/classify.js';
import { apiKeyOf, type Provider } from '../provider.js';
import { upstreamRequest } from '../transport.js';

const NAME = 'Cohere';
const RULES: readonly FailureRule[] = [
  { names: ['TOO_MANY_TOKENS'], verdict: 'context_window' },
  { status: 400, message: /too many tokens|exceeds? (the )?(limit|maximum)/i, verdict: 'context_window' },
  { status: 400, message: /image|base64/i, verdict: 'invalid_input' },
  { status: 404, message: /model/i, verdict: 'model_missing' },
  { status: 429, message: /trial/i, verdict: 'quota' },
  { status: 498, verdict: 'auth' },
  { status: 499, verdict: 'client_gone' },
  { status: 422, verdict: 'invalid_request' },
];
/** Paths of OpenAI's format, which it serves apart. */
const COMPATIBLE: ReadonlySet<string> = new Set(['/chat/completions', '/embeddings']);

/** Its own format is version 2; OpenAI's lives beside it. */
export const provider: Provider = {
  slug: 'cohere',
  name: NAME,
  dialects: ['cohere', 'cohere-embeddings', 'cohere-rerank', 'chat', 'embeddings'],
  credentialEnv: 'COHERE_API_KEY',
  baseUrlEnv: 'COHERE_BASE_URL',
  defaultBaseUrl: 'https://api.cohere.com',
  check: { path: '/chat', sendsNothing: true },
  prepare: (request, access) => {
    const { baseUrl } = access;
    const root = baseUrl.replace(/\/(?:compatibility\/v1|v2)$/, '');
    const below = COMPATIBLE.has(request.path) ? '/compatibility/v1' : '/v2';
    return upstreamRequest(request, `${root}${below}${request.path}`, {
      authorization: `Bearer ${apiKeyOf(access)}`,
    });
  },
  quirks: () => ({
    maxTokensParam: 'max_tokens',
    systemRole: 'system',
    refuses: ['store', 'logit_bias', 'n', 'verbosity', 'safety_identifier', 'user', 'parallel_tool_calls'],
  }),
  classify: (signal) => classifyFailure(NAME, RULES, signal),
};

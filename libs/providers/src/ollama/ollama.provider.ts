import { classifyFailure, type FailureRule } from '../failure/classify.js';
import { OPENAI_RULES } from '../failure/openai-rules.js';
import { apiKeyOf, type Provider } from '../provider.js';
import { upstreamRequest } from '../transport.js';

const NAME = 'Ollama';
const RULES: readonly FailureRule[] = [
  { status: 404, message: /not found/i, verdict: 'model_missing' },
  { status: 400, message: /does not support/i, verdict: 'unsupported' },
  { status: 503, message: /busy|maximum pending/i, verdict: 'overloaded' },
  ...OPENAI_RULES,
];

/** A server of Ollama: its own format below /api, OpenAI's below /v1. It has no key unless a proxy asks for one. */
export const provider: Provider = {
  slug: 'ollama',
  name: NAME,
  dialects: ['ollama', 'ollama-embeddings', 'chat', 'embeddings'],
  credentialEnv: 'OLLAMA_API_KEY',
  baseUrlEnv: 'OLLAMA_BASE_URL',
  defaultBaseUrl: 'http://127.0.0.1:11434',
  isKeyless: true,
  prepare: (request, access) => {
    const { baseUrl } = access;
    const key = apiKeyOf(access);
    const root = baseUrl.replace(/\/(?:v1|api)$/, '');
    const path = request.path.startsWith('/api/') ? request.path : `/v1${request.path}`;
    return upstreamRequest(request, `${root}${path}`, key === '' ? {} : { authorization: `Bearer ${key}` });
  },
  quirks: () => ({
    maxTokensParam: 'max_tokens',
    systemRole: 'system',
    passthroughParams: true,
    stopMax: Infinity,
    returnsReasoning: 'reasoning',
    refuses: ['logit_bias', 'n', 'store', 'safety_identifier', 'user'],
  }),
  classify: (signal) => classifyFailure(NAME, RULES, signal),
};

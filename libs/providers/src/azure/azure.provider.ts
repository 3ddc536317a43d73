import type { Quirks } from '@gateway/dialects';
import { ANTHROPIC_RULES } from '../failure/anthropic-rules.js';
import { classifyFailure, type FailureRule } from '../failure/classify.js';
import { OPENAI_RULES } from '../failure/openai-rules.js';
import { openAiCompatible } from '../protocol/openai-protocol.js';
import type { Provider } from '../provider.js';
import { TransportFailure, type UpstreamRequest } from '../transport.js';
import { accessFrom, FURTHER_ENV, UNSET_ADDRESS } from './azure-access.js';

const NAME = 'Azure OpenAI';
const ROOT = '/openai/v1';
/** Claude of a Foundry resource: Anthropic's format beside OpenAI's. */
const CLAUDE_ROOT = '/anthropic/v1';
const QUIRKS: Quirks = { maxTokensParam: 'max_completion_tokens', takesTokenIds: true };
const CLAUDE: Quirks = { refuses: ['service_tier'] };
const RULES: readonly FailureRule[] = [
  { status: 429, names: ['429'], message: /quota/i, verdict: 'rate' },
  ...OPENAI_RULES,
  ...ANTHROPIC_RULES,
];

/** It runs no batches by itself: Azure takes them for deployments that serve nothing else. */
const compatible = openAiCompatible({
  slug: 'azure',
  name: NAME,
  credentialEnv: 'AZURE_OPENAI_API_KEY',
  baseUrlEnv: 'AZURE_OPENAI_BASE_URL',
  defaultBaseUrl: UNSET_ADDRESS,
  root: ROOT,
  keyHeader: 'api-key',
  dialects: [
    'chat',
    'responses',
    'messages',
    'embeddings',
    'images',
    'speech',
    'transcriptions',
    'whisper',
    'realtime',
  ],
});

/** Returns the request for Claude at its address, and any other as it is. */
function placed(request: UpstreamRequest): UpstreamRequest {
  const url = request.url.replace(/\/openai\/v1(?=\/messages(?:$|[/?]))/, CLAUDE_ROOT);
  return url === request.url ? request : { ...request, url };
}

/** Azure OpenAI and Foundry under the version 1 address of a resource; the model of a route is the name of a deployment. */
export const provider: Provider = {
  ...compatible,
  accessFrom,
  furtherEnv: FURTHER_ENV,
  prepare: (body, access) => {
    const request = placed(compatible.prepare(body, access) as UpstreamRequest);
    const { credential } = access;
    if (credential.kind !== 'issued_token') return request;
    return credential.token.current().then(
      (token) => ({ ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } }),
      (error: unknown) => {
        throw new TransportFailure('connect', error);
      },
    );
  },
  renew: ({ credential }, { headers }, { status }) =>
    status === 401 &&
    credential.kind === 'issued_token' &&
    credential.token.renew((token) => headers.authorization === `Bearer ${token}`),
  quirks: ({ dialect }) => (dialect === 'messages' ? CLAUDE : QUIRKS),
  classify: (signal) => classifyFailure(NAME, RULES, signal),
};

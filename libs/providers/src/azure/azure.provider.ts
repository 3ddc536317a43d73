import type { Quirks } from '@gateway/dialects';
import { readDeploymentList } from '../deployments/deployment-names.js';
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
/** The version 1 address has no list of deployments: this version of the older one has it, and later ones have not. */
const DEPLOYMENTS = '/deployments?api-version=2023-03-15-preview';
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

/** Returns the request for Claude and for the list of deployments at their addresses, and any other as it is. */
function placed(request: UpstreamRequest): UpstreamRequest {
  const url = request.url
    .replace(/\/openai\/v1(?=\/messages(?:$|[/?]))/, CLAUDE_ROOT)
    .replace(/\/openai\/v1(?=\/deployments\?)/, '/openai');
  return url === request.url ? request : { ...request, url };
}

/** Azure OpenAI and Foundry under the version 1 address of a resource; the model of a route is the name of a deployment. */
export const provider: Provider = {
  ...compatible,
  accessFrom,
  furtherEnv: FURTHER_ENV,
  deployments: { path: DEPLOYMENTS, read: readDeploymentList },
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

import { classifyFailure, type FailureRule } from '../failure/classify.js';
import { apiKeyOf, type Provider } from '../provider.js';
import { TransportFailure, upstreamRequest } from '../transport.js';
import { accessFrom, addressFor, FURTHER_ENV, jobsAddressFor, objectAddress } from './aws-access.js';
import { signed } from './sign.js';

const NAME = 'Amazon Bedrock';
/** Types stand in the header x-amzn-errortype. */
const RULES: readonly FailureRule[] = [
  {
    status: 400,
    message:
      /input is too long|input tokens exceeded|prompt is too long|maximum context|too many input tokens/i,
    verdict: 'context_window',
  },
  { status: 400, message: /model identifier is invalid|model id/i, verdict: 'model_missing' },
  { status: 400, message: /on-demand throughput isn.t supported/i, verdict: 'model_missing' },
  {
    status: 400,
    message: /doesn.t support|does not support|is not supported|extraneous key/i,
    verdict: 'unsupported',
  },
  {
    status: 400,
    message: /could not process (image|document)|image (exceeds|format)|invalid (image|document)/i,
    verdict: 'invalid_input',
  },
  { names: ['ServiceQuotaExceededException'], verdict: 'quota' },
  {
    names: ['UnrecognizedClientException', 'ExpiredTokenException', 'InvalidSignatureException'],
    verdict: 'auth',
  },
  { status: 403, message: /security token|signature|api key|authentication/i, verdict: 'auth' },
  { names: ['AccessDeniedException'], verdict: 'permission' },
  { names: ['ResourceNotFoundException'], verdict: 'model_missing' },
  { names: ['ThrottlingException'], verdict: 'rate' },
  { names: ['ModelNotReadyException', 'ServiceUnavailableException'], verdict: 'overloaded' },
  { names: ['ModelTimeoutException'], verdict: 'timeout' },
  {
    names: ['ModelErrorException', 'ModelStreamErrorException', 'InternalServerException'],
    verdict: 'internal',
  },
  { status: 424, verdict: 'internal' },
  { names: ['ValidationException', 'ConflictException'], verdict: 'invalid_request' },
];

/** Types of a 403 that new keys of the same role may cure. */
const ENDED_KEYS = /^(ExpiredToken|ExpiredTokenException|UnrecognizedClientException|InvalidClientTokenId)\b/;

/** Amazon Bedrock: requests are signed with the keys of an account, or carry a bearer key. */
export const provider: Provider = {
  slug: 'amazon-bedrock',
  name: NAME,
  dialects: ['converse', 'titan-embeddings', 'nova-embeddings', 'bedrock-cohere-embeddings'],
  batches: 'bedrock-batches',
  credentialEnv: 'AWS_BEARER_TOKEN_BEDROCK',
  baseUrlEnv: 'AWS_BEDROCK_BASE_URL',
  defaultBaseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  furtherEnv: FURTHER_ENV,
  accessFrom,
  check: { path: '/model/amazon.nova-micro-v1%3A0/converse', sendsNothing: true },
  prepare: (request, access) => {
    const { credential } = access;
    const object = /^\/batch-objects(\/.+)$/.exec(request.path)?.[1];
    const isJob = request.path.startsWith('/model-invocation-job');
    const url = object
      ? objectAddress(access, object)
      : `${isJob ? jobsAddressFor(access) : addressFor(access)}${request.path}`;
    const service = object ? 's3' : 'bedrock';
    if (credential.kind === 'aws') return signed(upstreamRequest(request, url, {}), credential, service);
    if (credential.kind === 'issued_keys') {
      const { keys, region } = credential;
      return keys.current().then(
        (issued) => signed(upstreamRequest(request, url, {}), { ...issued, region }, service),
        (error: unknown) => {
          throw new TransportFailure('connect', error);
        },
      );
    }
    return upstreamRequest(request, url, { authorization: `Bearer ${apiKeyOf(access)}` });
  },
  renew: ({ credential }, { headers }, { status, headers: { 'x-amzn-errortype': type = '' } }) =>
    credential.kind === 'issued_keys' &&
    (status === 401 || ENDED_KEYS.test(type)) &&
    credential.keys.renew(({ accessKeyId }) => headers.authorization.includes(`Credential=${accessKeyId}/`)),
  quirks: () => ({ deprecatedCacheKey: true }),
  classify: (signal) => classifyFailure(NAME, RULES, signal),
};

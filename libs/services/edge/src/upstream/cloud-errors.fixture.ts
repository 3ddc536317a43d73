import { EventStreamCodec } from '@smithy/core/event-streams';
import type { ScriptedAnswer } from '@gateway/testing';

/** Texts of an account that the clouds write into their errors. */
export const OURS = [
  ...['123456789012', 'arn:aws', 'assumed-role', 'our-role', 'our-profile', 'our-project', '987654321098'],
  ...['eu-west-1', 'us-east-1', 'us-central1', 'europe-west4', 'us-east5', 'ours@', 'AKIAOURSOURSOURS'],
  ...['amazonaws', 'coral', 'id-of-the-cloud', 'ya29'],
];

/** Answer of a kind of failure: status, code and code of the provider in the one table of errors. */
export type Expected = [status: number, code: string, providerCode: string];
const BROKEN: Expected = [502, 'upstream_error', 'internal_provider_error'];
const OUT_OF_QUOTA: Expected = [503, 'upstream_error', 'internal_provider_error'];
const THROTTLED: Expected = [429, 'upstream_error', 'rate_limit_exceeded'];
const OVERLOADED: Expected = [503, 'upstream_error', 'provider_overloaded'];
const TOO_LATE: Expected = [504, 'gateway_timeout', 'provider_timeout'];
const TOO_LONG: Expected = [400, 'context_window_exceeded', 'context_window_exceeded'];
const FILTERED: Expected = [400, 'content_policy_violation', 'content_policy_violation'];
const UNSUPPORTED: Expected = [400, 'unsupported_operation', 'unsupported_operation'];
const UNREADABLE: Expected = [400, 'invalid_input', 'invalid_input'];
const WRONG: Expected = [400, 'invalid_request', 'invalid_request'];

type Case = [what: string, answer: ScriptedAnswer, expected: Expected];

/** Bedrock names the type of a failure in a header alone. */
const aws = (status: number, type: string, message: string, field = 'message'): ScriptedAnswer => ({
  status,
  headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
  json: { [field]: message },
});
const MODEL_ARN = 'arn:aws:bedrock:eu-west-1::foundation-model/upstream-one';
const USER_ARN = 'arn:aws:sts::123456789012:assumed-role/our-role/our-profile';
export const BEDROCK: Case[] = [
  [
    'a role that may not call the model',
    aws(
      403,
      'AccessDeniedException',
      `User: ${USER_ARN} is not authorized to perform: bedrock:InvokeModel on resource: ${MODEL_ARN} because no identity-based policy allows the bedrock:InvokeModel action`,
    ),
    BROKEN,
  ],
  [
    'a model that the account has not asked for',
    aws(
      403,
      'AccessDeniedException',
      "You don't have access to the model in account 123456789012.",
      'Message',
    ),
    BROKEN,
  ],
  [
    'keys that AWS does not know',
    aws(403, 'UnrecognizedClientException', 'The security token included in the request is invalid.'),
    BROKEN,
  ],
  [
    'a signature that does not fit',
    aws(
      403,
      'InvalidSignatureException',
      'Signature expired: Credential=AKIAOURSOURSOURS/20261129/eu-west-1/bedrock/aws4_request is not in the past',
    ),
    BROKEN,
  ],
  [
    'a model id that is none',
    aws(400, 'ValidationException', 'The provided model identifier is invalid.'),
    BROKEN,
  ],
  [
    'a model that needs a profile',
    aws(
      400,
      'ValidationException',
      'Invocation of model ID upstream-one with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
    ),
    BROKEN,
  ],
  [
    'a profile of another region',
    aws(
      404,
      'ResourceNotFoundException',
      'Could not find inference profile arn:aws:bedrock:us-east-1:123456789012:inference-profile/our-profile in us-east-1',
    ),
    BROKEN,
  ],
  ['a prompt too long', aws(400, 'ValidationException', 'Input is too long for requested model.'), TOO_LONG],
  [
    'a prompt too long in the words of Claude',
    aws(400, 'ValidationException', 'prompt is too long: 210000 tokens > 200000 maximum'),
    TOO_LONG,
  ],
  [
    'a feature that the model lacks',
    aws(400, 'ValidationException', `This model (${MODEL_ARN}) doesn't support tool use in streaming mode.`),
    UNSUPPORTED,
  ],
  [
    'an image that cannot be read',
    aws(400, 'ValidationException', 'messages.0.content.1.image.source: Could not process image'),
    UNREADABLE,
  ],
  [
    'a request that breaks a rule',
    aws(
      400,
      'ValidationException',
      'A conversation must start with a user message. Account 123456789012, region eu-west-1.',
    ),
    WRONG,
  ],
  [
    'a quota of the account',
    aws(
      400,
      'ServiceQuotaExceededException',
      'Your account 123456789012 has reached its quota in eu-west-1.',
    ),
    OUT_OF_QUOTA,
  ],
  [
    'a throttle',
    aws(429, 'ThrottlingException', 'Too many tokens, please wait. Region: eu-west-1'),
    THROTTLED,
  ],
  ['a model that warms up', aws(429, 'ModelNotReadyException', 'The model is not ready.'), OVERLOADED],
  ['a model that took too long', aws(408, 'ModelTimeoutException', 'Model timed out.'), TOO_LATE],
  ['a model that failed', aws(424, 'ModelErrorException', `${MODEL_ARN} failed with status 500`), BROKEN],
  ['a fault inside', aws(500, 'InternalServerException', 'Host ip-10-0-0-1.eu-west-1.amazonaws.com'), BROKEN],
  ['a service that is away', aws(503, 'ServiceUnavailableException', 'Try again.'), OVERLOADED],
  [
    'a page of a balancer',
    { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>eu-west-1.amazonaws.com</html>' },
    BROKEN,
  ],
];

/** Google's envelope; its streams and its OpenAI paths put it into an array. */
const google = (status: number, name: string, message: string, details: object[] = []): ScriptedAnswer => ({
  status,
  json: { error: { code: status, status: name, message, details } },
});
const PLACE = 'projects/our-project/locations/us-central1';
const ofGoogle: Case[] = [
  [
    'a model that the project has not',
    google(
      404,
      'NOT_FOUND',
      `Publisher Model \`${PLACE}/publishers/google/models/upstream-one\` was not found or your project does not have access to it.`,
    ),
    BROKEN,
  ],
  [
    'a model that the region has not',
    google(
      400,
      'FAILED_PRECONDITION',
      `Publisher Model \`${PLACE}/publishers/anthropic/models/upstream-one\` is not servable in region us-east5.`,
    ),
    BROKEN,
  ],
  [
    'an account without the permission',
    google(
      403,
      'PERMISSION_DENIED',
      `Permission 'aiplatform.endpoints.predict' denied on resource '//aiplatform.googleapis.com/${PLACE}/publishers/google/models/upstream-one' (or it may not exist).`,
      [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'IAM_PERMISSION_DENIED',
          metadata: { resource: PLACE },
        },
      ],
    ),
    BROKEN,
  ],
  [
    'an API that the project has not enabled',
    google(
      403,
      'PERMISSION_DENIED',
      'Vertex AI API has not been used in project our-project before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/aiplatform.googleapis.com/overview?project=987654321098 then retry.',
      [{ reason: 'SERVICE_DISABLED', metadata: { consumer: 'projects/987654321098' } }],
    ),
    BROKEN,
  ],
  [
    'a token that is none',
    google(
      401,
      'UNAUTHENTICATED',
      'Request had invalid authentication credentials of ours@our-project.iam.gserviceaccount.com.',
      [{ reason: 'ACCESS_TOKEN_TYPE_UNSUPPORTED' }],
    ),
    BROKEN,
  ],
  [
    'a key that is none',
    google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      { reason: 'API_KEY_INVALID' },
    ]),
    BROKEN,
  ],
  [
    'a minute’s quota',
    google(
      429,
      'RESOURCE_EXHAUSTED',
      'Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base_model with base model: upstream-one in region europe-west4, project 987654321098.',
      [{ violations: [{ quotaId: 'RequestsPerMinutePerProject' }] }, { retryDelay: '34.4s' }],
    ),
    THROTTLED,
  ],
  ['a throttle without details', google(429, 'RESOURCE_EXHAUSTED', 'Resource exhausted.'), THROTTLED],
  [
    'a day’s quota',
    google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded.', [
      { violations: [{ quotaId: 'RequestsPerDayPerProject-our-project' }] },
    ]),
    OUT_OF_QUOTA,
  ],
  [
    'a service at capacity',
    google(503, 'UNAVAILABLE', 'The service is unavailable in us-central1.'),
    OVERLOADED,
  ],
  ['a deadline', google(504, 'DEADLINE_EXCEEDED', 'Deadline expired in projects/our-project.'), TOO_LATE],
  ['a fault inside', google(500, 'INTERNAL', 'Internal error of projects/987654321098.'), BROKEN],
];
export const GEMINI: Case[] = [
  ...ofGoogle,
  [
    'a prompt too long',
    google(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ),
    TOO_LONG,
  ],
  [
    'an image that cannot be read',
    google(
      400,
      'INVALID_ARGUMENT',
      'Unable to process input image. Please retry or report in gs://our-project.',
    ),
    UNREADABLE,
  ],
  [
    'a feature that the model lacks',
    google(400, 'INVALID_ARGUMENT', 'Function calling is not enabled for upstream-one'),
    UNSUPPORTED,
  ],
  [
    'a request that breaks a rule',
    google(400, 'INVALID_ARGUMENT', `Please use a valid role, in ${PLACE}: user, model.`),
    WRONG,
  ],
  [
    'a prompt that the policy blocks',
    {
      json: { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 3 } },
    },
    FILTERED,
  ],
  [
    'an error in an array',
    { status: 400, json: [{ error: { code: 400, status: 'INVALID_ARGUMENT', message: 'Wrong role.' } }] },
    WRONG,
  ],
];

/** Claude's own envelope, as its maker has it. */
const claude = (status: number, type: string, message: string): ScriptedAnswer => ({
  status,
  json: { type: 'error', error: { type, message }, request_id: 'req_vrtx_upstream-one' },
});
export const CLAUDE: Case[] = [
  ...ofGoogle,
  [
    'a prompt too long',
    claude(400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
    TOO_LONG,
  ],
  [
    'a filter',
    claude(
      400,
      'invalid_request_error',
      'Output blocked by content filtering policy: blocked by content filter',
    ),
    FILTERED,
  ],
  [
    'an image that cannot be read',
    claude(400, 'invalid_request_error', 'messages.0.content.0: Could not process image'),
    UNREADABLE,
  ],
  [
    'a feature that the model lacks',
    claude(400, 'invalid_request_error', 'This model does not support thinking.'),
    UNSUPPORTED,
  ],
  [
    'a request that breaks a rule',
    claude(400, 'invalid_request_error', `max_tokens: 5 is wrong for ${PLACE}`),
    WRONG,
  ],
  ['a body too large', claude(413, 'request_too_large', 'Request exceeds the maximum size'), UNREADABLE],
  ['a credential that is refused', claude(401, 'authentication_error', 'invalid x-api-key'), BROKEN],
  ['a model that is not there', claude(404, 'not_found_error', 'model: upstream-one'), BROKEN],
  [
    'a throttle of its own',
    claude(429, 'rate_limit_error', 'Too many requests of projects/our-project'),
    THROTTLED,
  ],
  ['an overload', claude(529, 'overloaded_error', 'Overloaded'), OVERLOADED],
  ['a fault of its own', claude(500, 'api_error', 'Internal server error'), BROKEN],
];

/** A frame of Bedrock's streams that says a failure in place of an event. */
const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);
const exception = (type: string, message: string): ScriptedAnswer => ({
  headers: { 'content-type': 'application/vnd.amazon.eventstream' },
  body: codec.encode({
    headers: {
      ':message-type': { type: 'string', value: 'exception' },
      ':exception-type': { type: 'string', value: type },
    },
    body: Buffer.from(JSON.stringify({ message })),
  }),
});
const event = (data: object): ScriptedAnswer => ({
  headers: { 'content-type': 'text/event-stream' },
  body: `event: error\ndata: ${JSON.stringify(data)}\n\n`,
});
const jsonOf = (answer: ScriptedAnswer): object => ('json' in answer ? (answer.json as object) : {});

/** Failures that a stream says before anything else, with the dialect of the stream. */
export const STREAMED: [what: string, route: [string, string], answer: ScriptedAnswer, expected: Expected][] =
  [
    [
      'a throttle of Bedrock',
      ['amazon-bedrock', 'converse'],
      exception('throttlingException', `Too many requests of ${USER_ARN} in eu-west-1`),
      THROTTLED,
    ],
    [
      'a request that Bedrock refuses',
      ['amazon-bedrock', 'converse'],
      exception('validationException', 'Input is too long for requested model.'),
      TOO_LONG,
    ],
    [
      'a model of Bedrock that failed',
      ['amazon-bedrock', 'converse'],
      exception('modelStreamErrorException', `${MODEL_ARN} failed`),
      BROKEN,
    ],
    [
      'a quota of Gemini',
      ['google-vertex', 'gemini'],
      event(jsonOf(google(429, 'RESOURCE_EXHAUSTED', `Quota of ${PLACE} is exhausted.`))),
      THROTTLED,
    ],
    [
      'an overload of Claude',
      ['google-vertex', 'messages'],
      event(jsonOf(claude(529, 'overloaded_error', `Overloaded in ${PLACE}`))),
      OVERLOADED,
    ],
  ];

/** The party that has to act on a failure. */
export type Fault = 'caller' | 'account' | 'service' | 'mixed';

/** Group of codes as GET /v1/errors shows them. */
export type ErrorCategory = 'request' | 'account' | 'provider' | 'service' | 'mixed';

/** Coarse class as OpenAI SDK users read it in `error.type`. */
type OpenAiErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'billing_error'
  | 'upstream_error'
  | 'api_error';

export interface ErrorEntry {
  /** HTTP status unless the thrower knows a narrower one listed in `statuses`. */
  readonly status: number;
  /** Every status the code may be sent with; absent: only `status`. */
  readonly statuses?: readonly number[];
  readonly category: ErrorCategory;
  readonly fault: Fault;
  readonly retryable: boolean;
  /** True where the answer carries Retry-After. */
  readonly retryAfter: boolean;
  readonly type: OpenAiErrorType;
  /** Default human text; may change, nobody branches on it. */
  readonly message: string;
  /** The action that the reader should take, for GET /v1/errors. */
  readonly action: string;
  readonly providerCodes: readonly string[];
}

type Row = Omit<ErrorEntry, 'providerCodes' | 'retryAfter'> & {
  providerCodes?: readonly string[];
  retryAfter?: boolean;
};

function entry(row: Row): ErrorEntry {
  return { ...row, providerCodes: row.providerCodes ?? [], retryAfter: row.retryAfter ?? false };
}

function request(status: number, message: string, action: string, more: Partial<Row> = {}): ErrorEntry {
  const type: OpenAiErrorType = status === 404 ? 'not_found_error' : 'invalid_request_error';
  return entry({
    status,
    category: 'request',
    fault: 'caller',
    retryable: false,
    type,
    message,
    action,
    ...more,
  });
}

function account(
  status: number,
  type: OpenAiErrorType,
  message: string,
  action: string,
  more: Partial<Row> = {},
): ErrorEntry {
  return entry({
    status,
    category: 'account',
    fault: 'account',
    retryable: false,
    type,
    message,
    action,
    ...more,
  });
}

function service(status: number, message: string, action: string, more: Partial<Row> = {}): ErrorEntry {
  return entry({
    status,
    category: 'service',
    fault: 'service',
    retryable: true,
    type: 'api_error',
    message,
    action,
    ...more,
  });
}

function provider(status: number, message: string, action: string, more: Partial<Row> = {}): ErrorEntry {
  return entry({
    status,
    category: 'provider',
    fault: 'service',
    retryable: true,
    type: 'upstream_error',
    message,
    action,
    ...more,
  });
}

/**
 * The one table of errors. Status, class and retryability of a failure come from here and from nowhere else.
 * GET /v1/errors shows it; docs/decisions.md leads to what the contract leaves open. docs/errors.md is about `error.details`.
 */
export const ERRORS = {
  bad_request: request(
    400,
    'The request is not acceptable.',
    'Correct the named field or option and send it again.',
    { statuses: [400, 408, 431] },
  ),
  conflict: request(
    409,
    'The resource is in a state that refuses this action.',
    'Read the resource, then decide.',
  ),
  content_policy_violation: request(
    400,
    'The provider’s content filter refused the request.',
    'Change the content.',
    {
      providerCodes: ['content_policy_violation'],
    },
  ),
  context_window_exceeded: request(
    400,
    'Input plus requested output exceeds the model’s window.',
    'Shorten the input or ask for less output.',
    {
      providerCodes: ['context_window_exceeded'],
    },
  ),
  invalid_api_version: request(
    400,
    'The X-Service-Version header is not a served version.',
    'Send one of supported_versions, or leave the header out.',
  ),
  invalid_input: request(
    400,
    'An attached image, audio, file or data URL is corrupt, unsupported or too large.',
    'Check the attachment.',
    {
      statuses: [400, 415, 422],
      providerCodes: ['invalid_input'],
    },
  ),
  invalid_request: request(
    400,
    'A parameter is malformed, out of range or unsupported by the model.',
    'Correct the parameter.',
    {
      providerCodes: ['invalid_request'],
    },
  ),
  invalid_request_error: request(
    400,
    'The body does not satisfy the messages schema.',
    'Correct the fields listed in details.',
  ),
  model_capability_not_supported: request(
    400,
    'The model cannot serve this endpoint or capability.',
    'Choose a model whose record says it can.',
    {
      statuses: [400, 501],
    },
  ),
  model_not_found: request(
    404,
    'The model is unknown, disabled or not permitted for the key.',
    'Read GET /v1/models for the ids this key may use.',
    {
      providerCodes: ['model_not_found'],
    },
  ),
  model_not_available_on_pinned_provider: request(
    400,
    'The key’s pinned provider does not serve this model.',
    'Choose a model of that provider or clear the pin.',
  ),
  not_found: request(404, 'The resource does not exist or is not visible to you.', 'Check the id.'),
  resource_not_found: request(
    404,
    'A referenced file, batch, response or fine-tune is missing or expired.',
    'Create the referenced resource again.',
    {
      providerCodes: ['resource_not_found'],
    },
  ),
  unprocessable_entity: request(
    422,
    'The request is well-formed but cannot be acted on.',
    'Read the message.',
  ),
  unsupported_operation: request(
    400,
    'The model or provider lacks the feature.',
    'Leave the feature out or choose another model.',
    {
      statuses: [400, 501],
      providerCodes: ['unsupported_operation'],
    },
  ),
  validation_error: request(422, 'The body failed validation.', 'Correct the fields listed in details.'),
  byok_model_not_allowed: account(
    403,
    'permission_error',
    'The provider key may not call this model and fallback is off.',
    'Allow the model on the provider key or allow fallback.',
  ),
  concurrent_sessions_exceeded: account(
    429,
    'rate_limit_error',
    'Too many realtime sessions at once.',
    'Close a session first.',
  ),
  feature_not_enabled: account(
    403,
    'permission_error',
    'The feature is not enabled for the account.',
    'Ask the operator to enable it.',
  ),
  forbidden: account(
    403,
    'permission_error',
    'The credential is valid but not permitted.',
    'Use a credential with the right.',
  ),
  insufficient_credits: account(
    402,
    'billing_error',
    'The provider account behind the provider key is out of credit.',
    'Top up at the provider.',
    {
      providerCodes: ['insufficient_credits'],
    },
  ),
  // Of realtime sessions, as their protocol names it.
  insufficient_quota: account(402, 'billing_error', 'The account is out of credit.', 'Add credit.'),
  invalid_api_key: account(
    401,
    'authentication_error',
    'The key of a realtime session or of an open stream is unusable.',
    'Use an active key.',
  ),
  model_excluded: account(
    403,
    'permission_error',
    'The model is on a block list of the key.',
    'Choose another model or change the block list.',
  ),
  rate_limit_exceeded: account(
    429,
    'rate_limit_error',
    'A request limit is used up.',
    'Wait for Retry-After, then send again.',
    {
      retryable: true,
      retryAfter: true,
    },
  ),
  session_token_cap_exceeded: account(
    429,
    'rate_limit_error',
    'The realtime session used its token maximum.',
    'Open a new session.',
  ),
  spend_limit_exceeded: account(
    402,
    'billing_error',
    'A spend cap is reached, the balance is empty, or running requests hold what is left.',
    'Raise the cap or add credit. Where the answer carries Retry-After, running requests hold the money: send it again then.',
  ),
  unauthorized: account(
    401,
    'authentication_error',
    'The credential is missing, malformed, revoked or unknown.',
    'Send a valid credential.',
  ),
  upstream_auth_error: account(
    401,
    'authentication_error',
    'The provider refused the provider key.',
    'Replace the provider key.',
    {
      statuses: [401, 403],
      providerCodes: ['invalid_auth', 'permission_denied'],
    },
  ),
  upstream_rate_limit_error: account(
    429,
    'rate_limit_error',
    'The provider throttled the provider key.',
    'Wait, or raise the limit at the provider.',
    {
      retryable: true,
      retryAfter: true,
      providerCodes: ['monthly_quota_exceeded', 'rate_limit_exceeded'],
    },
  ),
  api_version_migration_failed: service(
    500,
    'The answer could not be converted to the pinned version.',
    'Send it again.',
  ),
  connection_timeout: service(504, 'The realtime socket lost its heartbeats.', 'Reconnect.'),
  gateway_timeout: provider(504, 'The provider did not answer in time.', 'Send it again with back-off.', {
    type: 'upstream_error',
    providerCodes: ['provider_timeout'],
  }),
  idle_timeout: service(408, 'The realtime socket was idle too long.', 'Reconnect when needed.'),
  internal_error: service(
    500,
    'Unexpected gateway error. One retry by hand is fine.',
    'Report the request_id if it happens again.',
    { retryable: false },
  ),
  provider_error: provider(502, 'The realtime provider failed in mid-session.', 'Reconnect.'),
  provider_not_available: provider(
    503,
    'No provider of this model is available.',
    'Send it again after Retry-After.',
    { retryAfter: true },
  ),
  provider_resource_not_found: provider(
    404,
    'The video provider no longer knows the task.',
    'Create the task again.',
    { retryable: false },
  ),
  service_draining: service(503, 'This instance is draining for a deploy.', 'Send it again at once.', {
    retryAfter: true,
  }),
  service_unavailable: service(
    503,
    'A part of the gateway is unavailable for the moment.',
    'Send it again after Retry-After.',
    { retryAfter: true },
  ),
  session_duration_exceeded: service(
    408,
    'The realtime session reached its maximum lifetime.',
    'Open a new session.',
  ),
  upstream_error: provider(502, 'The provider failed.', 'Send it again with back-off.', {
    statuses: [502, 503, 429],
    retryAfter: true,
    category: 'mixed',
    fault: 'mixed',
    providerCodes: [
      'bad_response',
      'connection_error',
      'internal_provider_error',
      'provider_overloaded',
      'rate_limit_exceeded',
    ],
  }),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export function errorEntry(code: ErrorCode): ErrorEntry {
  return ERRORS[code];
}

import type { ErrorTable, NativeError } from './error-table.js';

/** OpenAI's envelope, every key present. */
export function openAiError(
  status: number,
  type: string,
  code: string | null,
  message: string,
  param: string | null = null,
  headers: Readonly<Record<string, string>> = {},
): NativeError {
  return { status, body: { error: { message, type, param, code } }, headers };
}

const RATE = {
  'retry-after': '2',
  'retry-after-ms': '1500',
  'x-ratelimit-limit-requests': '500',
  'x-ratelimit-remaining-requests': '0',
  'x-ratelimit-reset-requests': '1.5s',
};

function invalid(code: string | null, message: string, param: string | null = null): NativeError {
  return openAiError(400, 'invalid_request_error', code, message, param);
}

const AZURE_FILTER: NativeError = {
  status: 400,
  body: {
    error: {
      message:
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      type: null,
      param: 'prompt',
      code: 'content_filter',
      status: 400,
      innererror: {
        code: 'ResponsibleAIPolicyViolation',
        content_filter_result: { violence: { filtered: true, severity: 'high' } },
      },
    },
  },
  headers: {},
};

function azure(status: number, code: string, message: string, headers = {}): NativeError {
  return { status, body: { error: { code, message } }, headers };
}

const QUOTA = 'You exceeded your current quota, please check your plan and billing details.';

/** Rows by name, `sim-error-<name>`; each is one native signal that a gateway must distinguish. */
export const OPENAI_ERRORS: ErrorTable = new Map<string, NativeError>([
  [
    'context',
    invalid(
      'context_length_exceeded',
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens. Please reduce the length of the messages.",
      'messages',
    ),
  ],
  ['context-text', invalid(null, 'Your input exceeds the context window of this model.', 'messages')],
  [
    'string-length',
    invalid(
      'string_above_max_length',
      "Invalid 'messages[0].content': string too long.",
      'messages[0].content',
    ),
  ],
  [
    'content-policy',
    invalid('content_policy_violation', 'Your request was rejected as a result of our safety system.'),
  ],
  ['content-filter', AZURE_FILTER],
  [
    'moderation',
    openAiError(
      400,
      'image_generation_user_error',
      'moderation_blocked',
      'Your request was rejected by the safety system.',
    ),
  ],
  ['image-policy', invalid('image_content_policy_violation', 'The image was rejected by our safety system.')],
  ['image', invalid('invalid_image', 'The image could not be decoded.', 'messages[0].content[1].image_url')],
  ['image-format', invalid('invalid_image_format', 'You uploaded an unsupported image.')],
  ['base64', invalid('invalid_base64_image', 'Invalid base64 image data.')],
  ['image-large', invalid('image_too_large', 'The image exceeds the maximum of 20 MB.')],
  ['image-media', invalid('unsupported_image_media_type', 'Unsupported image media type image/tiff.')],
  ['file', invalid('invalid_file', 'The file could not be read.')],
  ['file-type', invalid('unsupported_file', 'Files of this type are not supported.')],
  ['audio', invalid(null, 'The audio could not be decoded or its format is not supported.')],
  ['400-model', invalid('model_not_found', "The requested model 'sim-gone' does not exist.", 'model')],
  [
    '404-model',
    openAiError(
      404,
      'invalid_request_error',
      'model_not_found',
      'The model `sim-gone` does not exist or you do not have access to it.',
    ),
  ],
  [
    '404-deployment',
    azure(404, 'DeploymentNotFound', 'The API deployment for this resource does not exist.'),
  ],
  [
    '404-response',
    openAiError(
      404,
      'invalid_request_error',
      'previous_response_not_found',
      "Previous response with id 'resp_1' not found.",
      'previous_response_id',
    ),
  ],
  ['404-file', openAiError(404, 'invalid_request_error', null, 'No such File object: file-1', 'id')],
  ['404-batch', openAiError(404, 'invalid_request_error', null, "No batch found with id 'batch_1'.")],
  ['unknown-parameter', invalid('unknown_parameter', "Unknown parameter: 'colour'.", 'colour')],
  [
    'unsupported-parameter',
    invalid(
      'unsupported_parameter',
      "Unsupported parameter: 'temperature' is not supported with this model.",
      'temperature',
    ),
  ],
  [
    'unsupported-value',
    invalid(
      'unsupported_value',
      "Unsupported value: 'temperature' does not support 0.2 with this model.",
      'temperature',
    ),
  ],
  ['invalid-value', invalid('invalid_value', "Invalid value: 'robot'.", 'messages[0].role')],
  [
    'decimal',
    invalid('decimal_above_max_value', "Invalid 'temperature': decimal above maximum value.", 'temperature'),
  ],
  [
    'integer',
    invalid(
      'integer_below_min_value',
      "Invalid 'max_completion_tokens': integer below minimum value.",
      'max_completion_tokens',
    ),
  ],
  ['invalid-type', invalid('invalid_type', "Invalid type for 'messages': expected an array.", 'messages')],
  ['tool-use-failed', invalid('tool_use_failed', 'Failed to call a function.')],
  [
    '401-key',
    openAiError(
      401,
      'invalid_request_error',
      'invalid_api_key',
      'Incorrect API key provided: sk-sim****0000.',
    ),
  ],
  [
    '401-other',
    openAiError(
      401,
      'invalid_request_error',
      null,
      'You must be a member of an organization to use the API.',
    ),
  ],
  ['401-azure', azure(401, '401', 'Access denied due to invalid subscription key or wrong API endpoint.')],
  [
    '403-country',
    openAiError(
      403,
      'request_forbidden',
      'unsupported_country_region_territory',
      'Country, region, or territory not supported.',
    ),
  ],
  [
    '403-ip',
    openAiError(403, 'invalid_request_error', 'ip_not_authorized', 'Your IP address is not authorized.'),
  ],
  [
    '403-model',
    openAiError(
      403,
      'invalid_request_error',
      'model_not_found',
      'Project `proj_sim` does not have access to model `sim-gone`.',
    ),
  ],
  ['429-quota', openAiError(429, 'insufficient_quota', 'insufficient_quota', QUOTA)],
  [
    '429-credit',
    openAiError(429, 'insufficient_quota', 'credit_balance_exhausted', 'Your credit balance is exhausted.'),
  ],
  [
    '429-billing',
    openAiError(
      429,
      'insufficient_quota',
      'billing_hard_limit_reached',
      'Billing hard limit has been reached.',
    ),
  ],
  [
    '429-rate',
    openAiError(
      429,
      'requests',
      'rate_limit_exceeded',
      'Rate limit reached for sim-chat on requests per min (RPM): Limit 500, Used 500. Please try again in 1.5s.',
      null,
      RATE,
    ),
  ],
  [
    '429-tokens',
    openAiError(
      429,
      'tokens',
      'rate_limit_exceeded',
      'Rate limit reached for sim-chat on tokens per min (TPM). Please try again in 1.5s.',
      null,
      { 'x-ratelimit-reset-tokens': '1.5s' },
    ),
  ],
  ['429-slow', openAiError(429, 'requests', 'slow_down', 'Please slow down.', null, { 'retry-after': '5' })],
  [
    '429-azure',
    azure(
      429,
      'RateLimitReached',
      'Your requests have exceeded the call rate limit. Please retry after 1 second.',
      { 'retry-after': '1', 'retry-after-ms': '0' },
    ),
  ],
  ['500', openAiError(500, 'server_error', null, 'The server had an error while processing your request.')],
  ['502', openAiError(502, 'server_error', null, 'Bad gateway.')],
  [
    '503-overloaded',
    openAiError(503, 'server_error', 'server_is_overloaded', 'The server is overloaded.', null, {
      'retry-after': '1',
    }),
  ],
  ['503-slow', openAiError(503, 'server_error', 'slow_down', 'Slow down.', null, { 'retry-after': '1' })],
  ['504', openAiError(504, 'server_error', null, 'The request timed out.')],
]);

import type { ErrorTable, NativeError } from './error-table.js';

/** Anthropic's envelope. */
export function anthropicError(
  status: number,
  type: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): NativeError {
  return { status, body: { type: 'error', error: { type, message }, request_id: 'req_sim' }, headers };
}

function invalid(message: string): NativeError {
  return anthropicError(400, 'invalid_request_error', message);
}

const RATE = {
  'retry-after': '2',
  'anthropic-ratelimit-requests-limit': '50',
  'anthropic-ratelimit-requests-remaining': '0',
  'anthropic-ratelimit-requests-reset': '2026-01-02T03:04:05Z',
};

const CREDIT =
  'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.';

/** Rows by name, `sim-error-<name>`; each is one native signal that a gateway must distinguish. */
export const ANTHROPIC_ERRORS: ErrorTable = new Map<string, NativeError>([
  ['context', invalid('prompt is too long: 200001 tokens > 200000 maximum')],
  [
    'context-output',
    invalid(
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    ),
  ],
  ['credit', invalid(CREDIT)],
  [
    'spend-limit',
    invalid(
      'You have reached your specified API usage limits. You will regain access on 2027-01-01 at 00:00 UTC.',
    ),
  ],
  [
    '402-billing',
    anthropicError(402, 'billing_error', 'There is an issue with your billing or payment information.'),
  ],
  ['image', invalid('messages.0.content.1.image.source.base64.data: Could not process image')],
  [
    'image-large',
    invalid(
      'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes',
    ),
  ],
  ['pdf', invalid('messages.0.content.0.document: Could not process PDF')],
  ['invalid', invalid("messages.0.role: Input should be 'user' or 'assistant'")],
  [
    'unsupported',
    invalid("This model does not support effort level 'xhigh'. Supported levels: high, low, medium."),
  ],
  ['content-policy', invalid('Output blocked by content filtering policy')],
  ['401-key', anthropicError(401, 'authentication_error', 'invalid x-api-key')],
  [
    '403',
    anthropicError(
      403,
      'permission_error',
      'Your API key does not have permission to use the specified resource.',
    ),
  ],
  ['404-model', anthropicError(404, 'not_found_error', 'model: sim-gone')],
  ['409', anthropicError(409, 'conflict_error', 'The resource was changed by another request.')],
  ['413', anthropicError(413, 'request_too_large', 'Request exceeds the maximum size')],
  [
    '429-rate',
    anthropicError(
      429,
      'rate_limit_error',
      'This request would exceed the rate limit of 50 requests per minute.',
      RATE,
    ),
  ],
  [
    '429-tier',
    anthropicError(429, 'rate_limit_error', 'Your organization has reached its monthly usage cap.'),
  ],
  ['500', anthropicError(500, 'api_error', 'Internal server error')],
  ['504', anthropicError(504, 'timeout_error', 'Request timed out')],
  ['529', anthropicError(529, 'overloaded_error', 'Overloaded', { 'x-should-retry': 'true' })],
]);

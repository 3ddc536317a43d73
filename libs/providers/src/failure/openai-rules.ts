import type { FailureRule } from './classify.js';
import { MONTHLY } from './monthly.js';

/** OpenAI and those who copy its error codes. */
export const OPENAI_RULES: readonly FailureRule[] = [
  {
    names: ['context_length_exceeded', 'string_above_max_length', 'too_many_prompt_tokens'],
    verdict: 'context_window',
  },
  {
    names: [
      'content_policy_violation',
      'content_filter',
      'ResponsibleAIPolicyViolation',
      'moderation_blocked',
      'image_content_policy_violation',
      'bio_policy',
      'misalignment_policy_violation',
    ],
    verdict: 'content_policy',
  },
  { names: ['invalid_prompt'], message: /flagged|usage polic/i, verdict: 'content_policy' },
  {
    names: [
      'invalid_image',
      'invalid_image_url',
      'invalid_image_file',
      'invalid_image_format',
      'invalid_image_mode',
      'invalid_base64_image',
      'image_too_large',
      'image_too_small',
      'image_file_too_large',
      'empty_image_file',
      'failed_to_download_image',
      'image_file_not_found',
      'image_parse_error',
      'unsupported_image_media_type',
      'invalid_file',
      'unsupported_file',
    ],
    verdict: 'invalid_input',
  },
  {
    status: 400,
    message:
      /audio (file|data|input).{0,40}(decode|corrupt|invalid|unsupported)|could not (process|decode|parse) (the )?(image|audio|file)/i,
    verdict: 'invalid_input',
  },
  {
    names: ['previous_response_not_found', 'file_not_found', 'batch_not_found'],
    verdict: 'resource_missing',
  },
  { names: ['model_not_found', 'DeploymentNotFound', 'model_not_available'], verdict: 'model_missing' },
  {
    status: 404,
    message:
      /\bno such (file|batch|response|assistant|fine-tun\w+)|\b(file|batch|response|assistant|fine-tun\w+)\b.{0,80}not (be )?found/i,
    verdict: 'resource_missing',
  },
  { status: [402, 403, 429], message: MONTHLY, verdict: 'monthly_quota' },
  {
    names: [
      'organization_spend_limit_exceeded',
      'project_spend_limit_exceeded',
      'organization_usage_limit_exceeded',
    ],
    verdict: 'monthly_quota',
  },
  {
    names: [
      'insufficient_quota',
      'credit_balance_exhausted',
      'billing_hard_limit_reached',
      'billing_not_active',
    ],
    verdict: 'quota',
  },
  { status: 429, message: /exceeded your current quota/i, verdict: 'quota' },
  {
    status: [400, 401, 403],
    names: ['invalid_api_key', 'invalid_authentication', 'invalid_issuer', '401'],
    verdict: 'auth',
  },
  // One provider answers a wrong key with 400.
  { status: 400, message: /incorrect api key|invalid api key|api key not valid/i, verdict: 'auth' },
  { names: ['server_is_overloaded', 'overloaded_error', 'overloaded'], verdict: 'overloaded' },
  { status: 503, names: ['slow_down'], verdict: 'overloaded' },
  {
    names: ['rate_limit_exceeded', 'slow_down', 'RateLimitReached', 'tokens', 'requests', 'rate_limit_error'],
    verdict: 'rate',
  },
  { status: 400, names: ['unsupported_parameter'], verdict: 'unsupported' },
  {
    status: 400,
    names: ['unsupported_value'],
    message: /tool|function|stream|image|vision|audio|response_format|json_schema/i,
    verdict: 'unsupported',
  },
  {
    status: 400,
    message: /does not support (tools?|function|stream|image|vision|audio|response_format|json)/i,
    verdict: 'unsupported',
  },
  {
    names: ['tool_use_failed', 'invalid_request_error', 'unknown_parameter', 'invalid_value', 'invalid_type'],
    status: 400,
    verdict: 'invalid_request',
  },
  { names: ['invalid_prompt', 'data_residency_mismatch'], verdict: 'invalid_request' },
  // Said in-band there is no status and the name decides; a 503 is overload and a 504 a timeout whatever their name.
  {
    status: [400, 500, 501, 502, 520],
    names: ['server_error', 'internal_server_error', 'internal_error'],
    verdict: 'internal',
  },
];

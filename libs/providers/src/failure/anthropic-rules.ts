import type { FailureRule } from './classify.js';
import { MONTHLY } from './monthly.js';

/** Anthropic's error types and the texts that narrow them. */
export const ANTHROPIC_RULES: readonly FailureRule[] = [
  {
    names: ['invalid_request_error'],
    message: /prompt is too long|input length and `?max_tokens`? exceed/i,
    verdict: 'context_window',
  },
  {
    names: ['invalid_request_error'],
    message: /blocked by content filter/i,
    verdict: 'content_policy',
  },
  {
    names: ['invalid_request_error'],
    message: /credit balance is too low|spend(ing)? limit|usage limits?/i,
    verdict: 'quota',
  },
  { status: [400, 402, 403, 429], message: MONTHLY, verdict: 'monthly_quota' },
  { reason: /^enforced_spend_limit_reached$/, verdict: 'monthly_quota' },
  // Without its code a tier's cap differs from a throttle by its words alone: Retry-After may be lost on the way.
  {
    names: ['rate_limit_error'],
    message: /\bspend(ing)? (limit|cap)|\busage cap/i,
    verdict: 'monthly_quota',
  },
  { names: ['billing_error'], verdict: 'quota' },
  {
    names: ['invalid_request_error'],
    message:
      /could not process image|image exceeds|invalid (image|pdf)|pdf .{0,40}(invalid|password|pages)|media type/i,
    verdict: 'invalid_input',
  },
  {
    names: ['invalid_request_error'],
    message: /does not support|not supported (on|by|for) this model/i,
    verdict: 'unsupported',
  },
  { names: ['request_too_large'], verdict: 'invalid_input' },
  { names: ['authentication_error'], verdict: 'auth' },
  { names: ['permission_error'], verdict: 'permission' },
  { names: ['not_found_error'], message: /model/i, verdict: 'model_missing' },
  { names: ['not_found_error'], verdict: 'resource_missing' },
  { names: ['rate_limit_error'], verdict: 'rate' },
  { names: ['overloaded_error'], verdict: 'overloaded' },
  { names: ['timeout_error'], verdict: 'timeout' },
  { names: ['api_error'], verdict: 'internal' },
  { names: ['invalid_request_error'], status: [400, 422], verdict: 'invalid_request' },
];

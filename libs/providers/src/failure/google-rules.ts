import type { FailureRule } from './classify.js';

/** Google's statuses, and the details that narrow them. */
export const GOOGLE_RULES: readonly FailureRule[] = [
  { names: ['PROMPT_BLOCKED'], verdict: 'content_policy' },
  // A wrong key is a 400 here.
  { reason: /^(API_KEY_INVALID|ACCESS_TOKEN_EXPIRED|CREDENTIALS_MISSING)$/, verdict: 'auth' },
  { status: 400, message: /api key (not valid|expired)/i, verdict: 'auth' },
  {
    status: 400,
    message: /input token count .*exceeds|exceeds the maximum number of tokens/i,
    verdict: 'context_window',
  },
  { names: ['FAILED_PRECONDITION'], message: /location|billing|region|country/i, verdict: 'permission' },
  {
    names: ['INVALID_ARGUMENT'],
    message:
      /unable to process input (image|video|audio|file)|unsupported mime|invalid (image|base64)|document has no pages/i,
    verdict: 'invalid_input',
  },
  {
    names: ['INVALID_ARGUMENT'],
    message: /is not (enabled|supported) for|does not support|unsupported/i,
    verdict: 'unsupported',
  },
  { names: ['RESOURCE_EXHAUSTED'], reason: /PerDay/, verdict: 'quota' },
  {
    names: ['RESOURCE_EXHAUSTED'],
    message: /limit: 0\b|prepayment credits|billing account/i,
    verdict: 'quota',
  },
  { names: ['RESOURCE_EXHAUSTED'], verdict: 'rate' },
  { names: ['UNAUTHENTICATED'], verdict: 'auth' },
  { names: ['PERMISSION_DENIED'], message: /\bfile\b/i, verdict: 'resource_missing' },
  { names: ['PERMISSION_DENIED'], verdict: 'permission' },
  {
    names: ['NOT_FOUND'],
    message: /\b(file|cachedContent|cached content|batch)\b/i,
    verdict: 'resource_missing',
  },
  { names: ['NOT_FOUND'], verdict: 'model_missing' },
  { names: ['UNAVAILABLE'], verdict: 'overloaded' },
  { names: ['DEADLINE_EXCEEDED'], verdict: 'timeout' },
  { names: ['CANCELLED'], verdict: 'client_gone' },
  { names: ['INTERNAL'], verdict: 'internal' },
  { names: ['INVALID_ARGUMENT', 'OUT_OF_RANGE'], verdict: 'invalid_request' },
];

import type { DetailType } from './detail-types.js';
import { errorEntry, type ErrorCode, type ErrorEntry } from './error-table.js';

/** One fault of a body: where it is and what is wrong with it. */
export interface ErrorDetail {
  type: DetailType;
  /** Path from the body's root, for example ["messages", 0, "role"]. */
  loc: (string | number)[];
  msg: string;
}

/** One failed attempt as the caller sees it: no provider names. */
export interface AttemptFault {
  n: number;
  code: string;
  provider_code: string | null;
  status: number | null;
  fault: 'caller' | 'account' | 'service';
}

export interface ApiErrorOptions {
  /** Replaces the table's text. Never put a secret or an internal detail here. */
  message?: string;
  /** One of the entry's `statuses`, where the code has several. */
  status?: number;
  providerCode?: string;
  details?: ErrorDetail[];
  /** Stands for `details` on /v1/messages, where Anthropic SDKs read an object, for example its `error_code`. */
  messagesDetails?: Readonly<Record<string, unknown>>;
  /** Dotted path for OpenAI SDK users; derived from the first detail when absent. */
  param?: string;
  supportedVersions?: string[];
  attempts?: AttemptFault[];
  /** The budget that refused. */
  budgetId?: string;
  retryAfterSeconds?: number;
  /** Overrules what the table says the SDKs' `x-should-retry` shall be. */
  shouldRetry?: boolean;
  cause?: unknown;
}

/** A failure of ours. It takes a code; status, class and retryability come from the table. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly entry: ErrorEntry;
  readonly status: number;
  readonly options: ApiErrorOptions;

  constructor(code: ErrorCode, options: ApiErrorOptions = {}) {
    const entry = errorEntry(code);
    super(options.message ?? entry.message, { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.entry = entry;
    this.status = options.status ?? entry.status;
    this.options = options;
  }
}

/** The envelope of every JSON failure outside /v1/messages. */
export interface ErrorEnvelope {
  error: {
    code: string;
    message: string;
    type?: string;
    param?: string | null;
    provider_code?: string;
    details?: ErrorDetail[];
    supported_versions?: string[];
    attempts?: AttemptFault[];
    budget_id?: string;
  };
  request_id: string;
}

/** The spec's envelope plus `type` and `param`, which OpenAI SDKs read. */
export function errorEnvelope(error: ApiError, requestId: string): ErrorEnvelope {
  const { supportedVersions, attempts, providerCode, param, budgetId } = error.options;
  const details = error.options.details ?? detailsOf(error);
  return {
    error: {
      code: error.code,
      message: error.message,
      type: error.entry.type,
      param: param ?? paramOf(error.options.details?.[0]),
      ...(providerCode === undefined ? {} : { provider_code: providerCode }),
      ...(details === undefined ? {} : { details }),
      ...(supportedVersions === undefined ? {} : { supported_versions: supportedVersions }),
      ...(attempts === undefined ? {} : { attempts }),
      ...(budgetId === undefined ? {} : { budget_id: budgetId }),
    },
    request_id: requestId,
  };
}

/** The contract has details on every `validation_error`: where the thrower gave none, its message is the one. */
function detailsOf({ code, message: msg, options: { param } }: ApiError): ErrorDetail[] | undefined {
  if (code !== 'validation_error') return undefined;
  return [{ type: 'value_error', loc: param === undefined ? ['body'] : param.split('.'), msg }];
}

/** The member as the caller wrote it: `body` before it says where it stood, as query and path do. */
function paramOf(detail: ErrorDetail | undefined): string | null {
  if (detail === undefined) return null;
  // The whole of it is no member.
  const [first, ...rest] = detail.loc;
  return (first === 'body' && rest.length > 0 ? rest : detail.loc).join('.') || null;
}

const ANTHROPIC_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** Every failure on /v1/messages: one body that satisfies readers of both envelopes (libs/contracts/README.md). */
export interface MessagesErrorEnvelope {
  type: 'error';
  error: {
    type: string;
    message: string;
    code: string;
    provider_code?: string;
    details?: ErrorDetail[] | Readonly<Record<string, unknown>>;
    attempts?: AttemptFault[];
    supported_versions?: string[];
    budget_id?: string;
  };
  request_id: string;
}

export function messagesErrorEnvelope(error: ApiError, requestId: string): MessagesErrorEnvelope {
  const { error: body } = errorEnvelope(error, requestId);
  const { param: _param, type: _type, ...rest } = body;
  const { messagesDetails } = error.options;
  return {
    type: 'error',
    error: {
      ...rest,
      ...(messagesDetails === undefined ? {} : { details: messagesDetails }),
      type: ANTHROPIC_TYPES[error.status] ?? 'api_error',
    },
    request_id: requestId,
  };
}

/** Headers that go with a failure: Retry-After where known, x-should-retry for the SDKs, WWW-Authenticate of a 401. */
export function errorHeaders(error: ApiError): Record<string, string> {
  const headers: Record<string, string> = error.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {};
  const { retryAfterSeconds, shouldRetry } = error.options;
  if (retryAfterSeconds !== undefined)
    headers['Retry-After'] = String(Math.max(0, Math.ceil(retryAfterSeconds)));
  else if (error.status === 503 || error.entry.retryAfter) headers['Retry-After'] = '5';
  const sdkWouldRetry =
    error.status === 408 || error.status === 409 || error.status === 429 || error.status >= 500;
  const retry = shouldRetry ?? (error.entry.retryable && error.status !== 501);
  if (shouldRetry !== undefined || sdkWouldRetry || error.status === 402)
    headers['x-should-retry'] = String(retry);
  return headers;
}

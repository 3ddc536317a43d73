import {
  UpstreamError,
  withoutStack,
  type ErrorCode,
  type NotBegun,
  type UpstreamErrorOptions,
} from '@gateway/contracts';
import { scrubProviderText } from '@gateway/redaction';

/** The meaning of a failure, by name. One row each in VERDICTS. */
export type Verdict =
  | 'context_window'
  | 'content_policy'
  | 'invalid_input'
  | 'invalid_request'
  | 'unsupported'
  | 'model_missing'
  | 'resource_missing'
  | 'auth'
  | 'permission'
  | 'quota'
  | 'monthly_quota'
  | 'rate'
  | 'overloaded'
  | 'internal'
  | 'timeout'
  | 'connection'
  | 'bad_response'
  | 'client_gone';

interface Row {
  code: ErrorCode;
  providerCode?: string;
  status?: number;
  retryable: boolean;
  fallback: boolean;
  countsAsFault: boolean;
  fault: 'caller' | 'account' | 'service';
  alarm?: boolean;
  credential?: NonNullable<UpstreamErrorOptions['credential']>;
}

const caller = (code: ErrorCode, fallback = false, status?: number): Row => ({
  code,
  providerCode: code,
  ...(status === undefined ? {} : { status }),
  retryable: false,
  fallback,
  countsAsFault: false,
  fault: 'caller',
});

const service = (code: ErrorCode, providerCode: string, more: Partial<Row> = {}): Row => ({
  code,
  providerCode,
  retryable: true,
  fallback: true,
  countsAsFault: true,
  fault: 'service',
  ...more,
});

/** Our own credential or mapping is broken: the next route may serve, somebody must look. */
const ours: Row = service('upstream_error', 'internal_provider_error', {
  status: 502,
  retryable: false,
  alarm: true,
});

/** Meaning of each verdict on the platform's credentials. */
const VERDICTS: Record<Verdict, Row> = {
  context_window: caller('context_window_exceeded'),
  content_policy: caller('content_policy_violation'),
  invalid_input: caller('invalid_input', false, 400),
  invalid_request: caller('invalid_request'),
  unsupported: caller('unsupported_operation', true, 400),
  model_missing: ours,
  resource_missing: caller('resource_not_found'),
  auth: { ...ours, credential: 'refused' },
  permission: { ...ours, credential: 'permission' },
  quota: { ...ours, status: 503, credential: 'out_of_quota' },
  monthly_quota: { ...ours, status: 503, credential: 'out_of_quota' },
  rate: service('upstream_error', 'rate_limit_exceeded', {
    status: 429,
    countsAsFault: false,
    credential: 'throttled',
  }),
  overloaded: service('upstream_error', 'provider_overloaded', { status: 503 }),
  internal: service('upstream_error', 'internal_provider_error', { status: 502 }),
  timeout: service('gateway_timeout', 'provider_timeout'),
  connection: service('upstream_error', 'connection_error', { status: 502 }),
  bad_response: service('upstream_error', 'bad_response', { status: 502, retryable: false }),
  client_gone: service('upstream_error', 'connection_error', {
    status: 502,
    retryable: false,
    fallback: false,
    countsAsFault: false,
    fault: 'caller',
  }),
};

const account = (code: ErrorCode, providerCode: string, status: number, retryable = false): Row => ({
  code,
  providerCode,
  status,
  retryable,
  fallback: true,
  countsAsFault: false,
  fault: 'account',
});

/** Verdicts that differ where the caller's own provider key was used: the account must act. */
const BYOK_VERDICTS: Partial<Record<Verdict, Row>> = {
  model_missing: { ...caller('model_not_found', true), providerCode: 'model_not_found' },
  auth: account('upstream_auth_error', 'invalid_auth', 401),
  permission: account('upstream_auth_error', 'permission_denied', 403),
  quota: account('insufficient_credits', 'insufficient_credits', 402),
  monthly_quota: account('upstream_rate_limit_error', 'monthly_quota_exceeded', 429),
  rate: account('upstream_rate_limit_error', 'rate_limit_exceeded', 429, true),
};

export interface VerdictFacts {
  providerName: string;
  message: string;
  /** "" for none. */
  param?: string;
  httpStatus: number | null;
  byok: boolean;
  retryAfterMs?: number | undefined;
  notBegun?: NotBegun | undefined;
  cause?: unknown;
}

/** One attempt's failure from its verdict. The message names the provider and is scrubbed. */
export function verdictError(verdict: Verdict, facts: VerdictFacts): UpstreamError {
  const row = (facts.byok ? BYOK_VERDICTS[verdict] : undefined) ?? VERDICTS[verdict];
  const words = scrubProviderText(facts.message);
  const options: UpstreamErrorOptions = {
    code: row.code,
    ...(row.providerCode === undefined ? {} : { providerCode: row.providerCode }),
    ...(row.status === undefined ? {} : { status: row.status }),
    message: words === '' ? `${facts.providerName} failed.` : `${facts.providerName}: ${words}`,
    ...(row.fault === 'caller' && facts.param ? { param: facts.param } : {}),
    httpStatus: facts.httpStatus,
    retryable: row.retryable,
    fallback: row.fallback,
    countsAsFault: row.countsAsFault,
    fault: row.fault,
    ...(row.alarm === undefined ? {} : { alarm: row.alarm }),
    ...(row.credential === undefined ? {} : { credential: row.credential }),
    ...(facts.retryAfterMs === undefined ? {} : { retryAfterMs: facts.retryAfterMs }),
    ...(facts.notBegun === undefined ? {} : { notBegun: facts.notBegun }),
    cause: facts.cause,
  };
  return withoutStack(() => new UpstreamError(options));
}

import type { UpstreamError } from '@gateway/contracts';
import { nativeError, nativeErrorOf, type FailureSignal, type NativeError } from './failure-signal.js';
import { retryAfterMs } from './retry-after.js';
import type { TransportFault } from '../transport.js';
import { verdictError, type Verdict } from './verdict.js';

/** One row of a provider's table: the first row all of whose conditions hold gives the verdict. */
export interface FailureRule {
  status?: number | readonly number[];
  /** Native `type` or `code` equals one of these. */
  names?: readonly string[];
  message?: RegExp;
  /** One of Google's reasons or quotas matches. */
  reason?: RegExp;
  verdict: Verdict;
}

/** Meaning of a status where no rule of the provider says more. */
const BY_STATUS: readonly FailureRule[] = [
  { status: 401, verdict: 'auth' },
  { status: 402, verdict: 'quota' },
  { status: 403, verdict: 'permission' },
  { status: 404, verdict: 'model_missing' },
  { status: 408, verdict: 'timeout' },
  { status: 413, verdict: 'invalid_input' },
  { status: 429, verdict: 'rate' },
  { status: 503, verdict: 'overloaded' },
  { status: 529, verdict: 'overloaded' },
  { status: 504, verdict: 'timeout' },
];

/** Wording shared across the field. It says more than a name that stands for every bad request, so it goes first. */
const BY_WORDING: readonly FailureRule[] = [
  {
    status: [400, 413, 422],
    message:
      /maximum (context|prompt) length|context window|context length|context limit|prompt is too long|input is too long|too many (input |prompt )?tokens|exceeds? the (maximum|model'?s) (number of )?(context|tokens|input)/i,
    verdict: 'context_window',
  },
];

function holds(rule: FailureRule, status: number | null, native: NativeError): boolean {
  if (rule.status !== undefined) {
    const wanted: readonly number[] = typeof rule.status === 'number' ? [rule.status] : rule.status;
    // An in-band error may come without a status: then the names alone decide.
    if (status === null ? rule.names === undefined : !wanted.includes(status)) return false;
  }
  if (rule.names && !rule.names.includes(native.code) && !rule.names.includes(native.type)) return false;
  if (rule.message && !rule.message.test(native.message)) return false;
  const { reason } = rule;
  return !reason || native.reasons.some((one) => reason.test(one));
}

function byClass(status: number | null): Verdict {
  if (status === null || status >= 500) return 'internal';
  return status >= 400 ? 'invalid_request' : 'bad_response';
}

function judge(rules: readonly FailureRule[], status: number | null, native: NativeError): Verdict {
  for (const rule of [...BY_WORDING, ...rules, ...BY_STATUS])
    if (holds(rule, status, native)) return rule.verdict;
  return byClass(status);
}

/**
 * The one order of classification: transport, our deadline, unreadable 2xx, in-band error, status and wording.
 */
export function classifyFailure(
  providerName: string,
  rules: readonly FailureRule[],
  signal: FailureSignal,
): UpstreamError {
  const { byok } = signal;
  switch (signal.kind) {
    case 'transport': {
      const { fault } = signal.failure;
      const facts = {
        providerName,
        message: TRANSPORT_WORDS[fault],
        httpStatus: null,
        byok,
        notBegun: NOT_CONNECTED.has(fault) ? ('not_connected' as const) : undefined,
        cause: signal.failure,
      };
      if (fault === 'aborted') return verdictError('client_gone', facts);
      if (fault === 'too_large') return verdictError('bad_response', facts);
      return verdictError(fault.startsWith('timeout') ? 'timeout' : 'connection', facts);
    }
    case 'status': {
      const native = nativeErrorOf(signal.body);
      native.type ||= typeOfHeader(signal.headers['x-amzn-errortype']);
      const waitMs = retryAfterMs(
        signal.headers,
        Buffer.from(signal.body).toString('utf8', 0, 16_384),
        signal.nowMs,
      );
      const verdict = judge(rules, signal.status, native);
      return verdictError(verdict, {
        providerName,
        message: native.message,
        param: native.param,
        httpStatus: signal.status,
        byok,
        retryAfterMs: waitMs ?? undefined,
        notBegun: REFUSALS.has(signal.status) ? 'refused' : undefined,
      });
    }
    case 'stream': {
      const { failure } = signal;
      const native = nativeError(failure.body);
      const message = native.message || failure.message;
      if (failure.kind === 'connection')
        return verdictError('connection', { providerName, message, httpStatus: null, byok });
      if (failure.kind === 'bad_response')
        return verdictError('bad_response', { providerName, message, httpStatus: null, byok });
      const verdict = judge(rules, failure.status, native);
      return verdictError(verdict, {
        providerName,
        message,
        param: native.param,
        httpStatus: failure.status,
        byok,
        notBegun: REFUSING.has(verdict) ? 'refused' : undefined,
      });
    }
    case 'bad_response':
      return verdictError('bad_response', { providerName, message: signal.message, httpStatus: 200, byok });
  }
}

/** AWS says the type in a header: `Name` or `Name:http://…`. */
function typeOfHeader(value: string | undefined): string {
  return value?.split(':')[0].trim() ?? '';
}

const NOT_CONNECTED: ReadonlySet<TransportFault> = new Set(['connect', 'timeout_connect']);

/** Statuses with which nothing was begun. Not 408 and 424: with them models fail that were at work. */
const REFUSALS: ReadonlySet<number> = new Set([400, 401, 402, 403, 404, 405, 413, 415, 422, 429]);

/** The same, said within an answer. */
const REFUSING: ReadonlySet<Verdict> = new Set(['auth', 'permission', 'quota', 'monthly_quota', 'rate']);

const TRANSPORT_WORDS = {
  connect: 'the connection could not be made.',
  timeout_connect: 'the connection was not made in time.',
  timeout_first_byte: 'no answer came in time.',
  timeout_idle: 'the answer stopped coming.',
  timeout_total: 'the answer took too long.',
  reset: 'the connection broke before the answer was whole.',
  too_large: 'the answer was too large.',
  aborted: 'the request was given up.',
} as const;

import { ApiError, errorEnvelope, type ErrorCode } from '@gateway/contracts';
import { scrubProviderText } from '@gateway/redaction';
import { asApiError } from '../../request/as-api-error.js';

/** Close code of each error that ends a session. */
const CLOSE_CODES: Partial<Record<ErrorCode, number>> = {
  invalid_api_key: 4_401,
  insufficient_quota: 4_402,
  feature_not_enabled: 4_403,
  forbidden: 4_403,
  model_excluded: 4_403,
  byok_model_not_allowed: 4_403,
  model_not_found: 4_404,
  model_capability_not_supported: 4_404,
  model_not_available_on_pinned_provider: 4_404,
  idle_timeout: 4_408,
  concurrent_sessions_exceeded: 4_429,
  rate_limit_exceeded: 4_429,
  session_token_cap_exceeded: 4_430,
  session_duration_exceeded: 4_431,
  connection_timeout: 4_432,
  provider_error: 4_502,
  service_draining: 1_012,
  service_unavailable: 1_013,
  provider_not_available: 1_013,
};
/** Upstreams of every kind of failure are one thing to a caller of a socket. */
const PROVIDER_FAILED = new Set<ErrorCode>(['upstream_error', 'gateway_timeout', 'upstream_auth_error']);
const BAD_REQUEST = 1_007;
const INTERNAL = 1_011;

export function closeCodeOf({ code, status }: ApiError): number {
  const found = CLOSE_CODES[code];
  if (found !== undefined) return found;
  if (PROVIDER_FAILED.has(code)) return 4_502;
  return status < 500 ? BAD_REQUEST : INTERNAL;
}

/** The same error in the words of this protocol: a key that may not call is an invalid one, and a balance a quota. */
export function inSession(failure: unknown): ApiError {
  const error = asApiError(failure);
  if (error.code === 'unauthorized') return new ApiError('invalid_api_key', { cause: error });
  if (error.code === 'spend_limit_exceeded')
    return new ApiError('insufficient_quota', { message: error.message, cause: error });
  return error;
}

/** An error as an event. `eventId`: the caller's event that it is about. */
export function errorEvent(error: ApiError, id: string, eventId: string | null): string {
  const { type, code, message, param, provider_code } = errorEnvelope(error, '').error;
  const shown = { type, code, message, param, event_id: eventId };
  const said = provider_code === undefined ? shown : { ...shown, provider_code };
  return JSON.stringify({ type: 'error', event_id: id, error: said });
}

/** A provider's name of an error, or the path of a member; anything else may be a text, an address or a secret. */
const CODE = /^[\w.-]{1,64}$/;
const PARAM = /^[\w.[\]-]{1,200}$/;

/** Returns what a caller sees of a provider's error that the caller has caused. `message` is scrubbed already. */
export function callersFault(
  { code, param }: Record<string, unknown>,
  message: string,
): Record<string, unknown> {
  const named = (value: unknown, form: RegExp): string | null =>
    typeof value === 'string' && form.test(value) && scrubProviderText(value) === value ? value : null;
  return { type: 'invalid_request_error', code: named(code, CODE), message, param: named(param, PARAM) };
}

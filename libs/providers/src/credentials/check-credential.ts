import type { UpstreamError } from '@gateway/contracts';
import type { UpstreamBody } from '@gateway/dialects';
import type { CredentialCheck, Provider, ProviderAccess } from '../provider.js';
import {
  TransportFailure,
  type SendOptions,
  type UpstreamRequest,
  type UpstreamResponse,
  type UpstreamTransport,
} from '../transport.js';
import type { FailureSignal } from '../failure/failure-signal.js';

/**
 * The provider's judgement of a credential. `unknown`: it did not judge it, because it was away, busy or throttled the
 * call.
 */
export interface CredentialVerdict {
  status: 'works' | 'refused' | 'unknown';
  /** Absent where it works. */
  error?: UpstreamError;
}

const JSON_TYPE = 'application/json';
const MODELS: CredentialCheck = { path: '/models' };
const EMPTY = Buffer.from('{}');
const REFUSED: readonly string[] = [
  'upstream_auth_error',
  'insufficient_credits',
  'upstream_rate_limit_error',
];
/** Statuses with which a provider answers a body without members, once it has accepted the credential. */
const JUDGED_BODY: readonly number[] = [400, 422];
const ERROR_BYTES_MAX = 65_536;
const BOUNDS: Omit<SendOptions, 'signal'> = {
  connectTimeoutMs: 3_000,
  firstByteTimeoutMs: 8_000,
  idleTimeoutMs: 8_000,
  totalTimeoutMs: 10_000,
  maxBytes: ERROR_BYTES_MAX,
};

/**
 * Calls the provider's cheapest read that needs the credential; where it has none, its own endpoint with a body that it
 * refuses, which bills nothing. An answer that is good is not read.
 */
export async function checkCredential(
  provider: Provider,
  access: ProviderAccess,
  { transport, nowMs, signal }: { transport: UpstreamTransport; nowMs: number; signal: AbortSignal },
): Promise<CredentialVerdict> {
  const check = provider.check ?? MODELS;
  const failed = (failure: FailureSignal): CredentialVerdict => verdictOf(provider.classify(failure));
  let response: UpstreamResponse;
  try {
    response = await transport.send(await requestFor(provider, access, check), { ...BOUNDS, signal });
  } catch (failure) {
    if (!(failure instanceof TransportFailure)) throw failure;
    return failed({ kind: 'transport', failure, byok: true });
  }
  const { status, headers } = response;
  const isJudged = check.sendsNothing === true && JUDGED_BODY.includes(status);
  if ((status >= 200 && status < 300) || isJudged) {
    response.cancel();
    return { status: 'works' };
  }
  return failed({ kind: 'status', status, headers, body: await errorBody(response), byok: true, nowMs });
}

async function requestFor(
  provider: Provider,
  access: ProviderAccess,
  { path, headers = {}, sendsNothing }: CredentialCheck,
): Promise<UpstreamRequest> {
  const pieces = sendsNothing ? [EMPTY] : [];
  const byteLength = sendsNothing ? EMPTY.byteLength : 0;
  const body: UpstreamBody = { path, contentType: JSON_TYPE, accept: JSON_TYPE, headers, pieces, byteLength };
  const request = await provider.prepare(body, access);
  return sendsNothing ? request : { ...request, method: 'GET' };
}

function verdictOf(error: UpstreamError): CredentialVerdict {
  const { code, providerCode } = error.options;
  const isThrottle = code === 'upstream_rate_limit_error' && providerCode === 'rate_limit_exceeded';
  return { status: REFUSED.includes(code) && !isThrottle ? 'refused' : 'unknown', error };
}

/** The status says enough where the body breaks off. */
async function errorBody(response: UpstreamResponse): Promise<Uint8Array> {
  try {
    return await response.bytes();
  } catch (error) {
    if (!(error instanceof TransportFailure)) throw error;
    return new Uint8Array();
  }
}

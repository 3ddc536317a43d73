import type { DialectName, Route, UpstreamError } from '@gateway/contracts';
import type { Quirks, UpstreamBody } from '@gateway/dialects';
import type { FailureSignal } from './failure/failure-signal.js';
import type { UpstreamRequest } from './transport.js';

/** What a provider is called with; a kind of its own for each way of signing. */
type Credential = { kind: 'api_key'; key: string };

/** Where a provider is reached and with what: from the operator's environment, or a stored provider key. */
export interface ProviderAccess {
  baseUrl: string;
  credential: Credential;
}

/** One upstream provider: address, authentication and quirks over dialects. */
export interface Provider {
  readonly slug: string;
  /** As shown in error messages. */
  readonly name: string;
  readonly dialects: readonly DialectName[];
  /** Variable that holds the platform's credential; the provider is enabled where it is set. */
  readonly credentialEnv: string;
  readonly baseUrlEnv: string;
  readonly defaultBaseUrl: string;
  /** Puts the dialect's request under the provider's API root and signs it. A promise where a token has to be had first. */
  prepare(request: UpstreamBody, access: ProviderAccess): UpstreamRequest | Promise<UpstreamRequest>;
  quirks(route: Route): Quirks;
  /** What a failure of one attempt means. */
  classify(signal: FailureSignal): UpstreamError;
}

import type { DialectName, Route, UpstreamError } from '@gateway/contracts';
import type { Quirks } from '@gateway/dialects';
import type { FailureSignal } from './failure/failure-signal.js';

/** Where a provider is reached and with what: from the operator's environment, or a stored provider key. */
export interface ProviderAccess {
  baseUrl: string;
  credential: string;
}

/** What the caller's own headers say to a provider of the same dialect. */
export interface CallerHeaders {
  anthropicVersion: string | null;
  anthropicBeta: readonly string[];
}

export interface ProviderEndpoint {
  url: string;
  headers: Record<string, string>;
}

/** One upstream provider: transport details, authentication and quirks over a dialect. */
export interface Provider {
  readonly slug: string;
  /** As shown in error messages. */
  readonly name: string;
  readonly dialects: readonly DialectName[];
  /** Variable that holds the platform's credential; the provider is enabled where it is set. */
  readonly credentialEnv: string;
  readonly baseUrlEnv: string;
  readonly defaultBaseUrl: string;
  /** Where and with which headers a route is called. */
  endpoint(route: Route, access: ProviderAccess, caller: CallerHeaders): ProviderEndpoint;
  quirks(route: Route): Quirks;
  /** What a failure of one attempt means. */
  classify(signal: FailureSignal): UpstreamError;
}

import type { BudgetGrant } from './principal.js';

/** A credential for calls to a provider; one kind for each way of signing. */
export type ProviderCredential =
  | { kind: 'api_key'; key: string }
  | { kind: 'azure'; key: string; endpoint: string; apiVersion: string }
  | {
      kind: 'aws';
      accessKeyId: string;
      secretAccessKey: string;
      sessionToken: string | null;
      region: string;
    }
  | {
      kind: 'vertex';
      clientEmail: string;
      privateKey: string;
      privateKeyId: string | null;
      project: string;
      location: string;
    };

/** The result of one request with a provider key. */
export interface ProviderKeyUse {
  accountId: string;
  keyId: string;
  /** Milliseconds since the epoch. */
  atMs: number;
  /** Error with which the provider refused the key; null = none. */
  failure: ProviderKeyFailure | null;
}

export interface ProviderKeyFailure {
  model: string;
  requestId: string;
  errorCode: string;
  providerCode: string | null;
  /** Scrubbed. */
  message: string;
  /** The request was served on the service's own credentials. */
  servedOnPlatform: boolean;
}

/**
 * Provider keys of the customers (BYOK), for who calls the provider. Drivers: database in process; HTTP.
 * Throws ApiError `service_unavailable` where the lookup failed.
 */
export abstract class ProviderKeyVault {
  /** The plaintext of this version of a key; null where the key is gone or has another version by now. */
  abstract open(accountId: string, keyId: string, version: number): Promise<ProviderCredential | null>;
  /** Notes the last use and the last failure of keys; a report that comes twice is one. */
  abstract report(uses: readonly ProviderKeyUse[]): Promise<void>;
}

/** States of a platform credential that an edge can find. */
export const CREDENTIAL_STATES = ['ready', 'cooling', 'refused', 'out_of_quota'] as const;

/** The state of a platform credential, as an edge found it. */
export interface CredentialState {
  status: (typeof CREDENTIAL_STATES)[number];
  /** Milliseconds since the epoch: no caller's request uses it before; null for `ready`. */
  untilMs: number | null;
  /** Milliseconds since the epoch when it was found: the newest finding holds. */
  atMs: number;
  /** The failure that it was found by; null for `ready`. */
  error: { code: string; providerCode: string | null; httpStatus: number | null } | null;
}

/** One credential of the platform at a provider, without its secret. */
export interface PooledCredential {
  id: string;
  /** Slug. */
  provider: string;
  source: 'stored' | 'environment';
  /** Version of the secret. */
  version: number;
  /** Share of the requests; 0 = serves where no other can. */
  weight: number;
  /** null = every model. */
  allowedModels: readonly string[] | null;
  /** null = the operator's address for the provider. */
  baseUrl: string | null;
  /** Names of deployments by upstream model; absent or null = those of gateway.yaml. */
  deployments?: Readonly<Record<string, string>> | null;
  /** Requests and tokens of a minute, over all edges; absent or null = no limit. */
  rpmLimit?: number | null;
  tpmLimit?: number | null;
  isEnabled: boolean;
  state: CredentialState;
}

/** Facts about the platform's own side of its providers, for every edge. */
export interface PlatformPool {
  /** Every credential that is stored or was changed. */
  credentials: readonly PooledCredential[];
  /** Enabled budgets of providers. */
  budgets: readonly BudgetGrant[];
}

/** News of one edge about the platform's credentials. */
export interface CredentialReport {
  /** Credentials of its environment. */
  environment: readonly { provider: string; variable: string; masked: string }[];
  states: readonly ({ id: string } & CredentialState)[];
  /** Requests since its last report, and when the newest one began. */
  uses: readonly { id: string; requests: number; lastUsedMs: number }[];
}

/** Returns the id of the credential in the edges' environment. */
export function environmentCredentialId(provider: string): string {
  return `cred_env_${provider}`;
}

/**
 * Credentials of the platform at its providers, for who calls them. Drivers: database in process; HTTP.
 * Throws ApiError `service_unavailable` where the lookup failed.
 */
export abstract class PlatformCredentials {
  /** Takes the news of an edge, and returns what every edge has to know. */
  abstract sync(report: CredentialReport): Promise<PlatformPool>;
  /** Returns the plaintext of this version; null where the credential is gone or has another version by now. */
  abstract open(id: string, version: number): Promise<ProviderCredential | null>;
}

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
  /** Refusal of the key by the provider; null = none. */
  refusal: ProviderKeyRefusal | null;
}

export interface ProviderKeyRefusal {
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
  /** Notes the last use and the last refusal of keys; a report that comes twice is one. */
  abstract report(uses: readonly ProviderKeyUse[]): Promise<void>;
}

/** What a provider is called with; a kind of its own for each way of signing. */
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

/** How one request fared with a provider key. */
export interface ProviderKeyUse {
  accountId: string;
  keyId: string;
  /** Milliseconds since the epoch. */
  atMs: number;
  /** What the provider refused the key with; null = it did not. */
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

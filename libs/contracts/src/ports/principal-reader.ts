import type { KeyPrincipal, Principal } from './principal.js';

/**
 * A credential that a caller presented, already checked for form. A key travels only as the SHA-256 of its whole secret
 * (lower-case hex); the edge never has the pepper.
 */
export type Credential =
  | { kind: 'key'; digest: string }
  | { kind: 'admin_key'; digest: string }
  | { kind: 'session'; token: string };

/** The address that presents a credential: lookups of unknown credentials are scheduled fairly by address. */
export interface Caller {
  readonly clientIp: string;
}

/**
 * Resolves a credential. Drivers: database in process; HTTP with a bounded cache.
 * Throws ApiError `unauthorized` where the credential is unknown, expired or rotated out, and
 * `service_unavailable` where the lookup failed: a failed lookup is never a 401, 403 or 404.
 * A suspended key is answered with status `suspended`; whoever guards the route refuses it (403).
 */
export abstract class PrincipalReader {
  /** The caller where memory may answer at once for `resolve`, counted as its answer; null where it has to be asked. */
  abstract remembered(credential: Credential): Principal | null;
  abstract resolve(credential: Credential, caller?: Caller): Promise<Principal>;
  /** Reads past every cache; single-flight per credential. Called when admission says that the record is stale. */
  abstract reload(credential: Credential): Promise<Principal>;
  /**
   * The record of a key for somebody who looks at it, whatever its status and end; past every cache. Throws ApiError
   * `not_found` where none of these accounts has it, known or not.
   */
  abstract keyById(keyId: string, accountIds: readonly string[]): Promise<KeyPrincipal>;
}

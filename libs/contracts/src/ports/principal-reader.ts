import type { Principal } from './principal.js';

/**
 * What a caller presented, already checked for form. A key travels only as the SHA-256
 * of its whole secret (lower-case hex); the edge never has the pepper.
 */
export type Credential =
  | { kind: 'key'; digest: string }
  | { kind: 'admin_key'; digest: string }
  | { kind: 'session'; token: string };

/**
 * Resolves a credential. Drivers: database in process; HTTP with a bounded cache.
 * Throws ApiError `unauthorized` where the credential is unknown, expired or rotated out, and
 * `service_unavailable` where the lookup failed: a failed lookup is never a 401, 403 or 404.
 * A suspended key is answered with status `suspended`; whoever guards the route refuses it (403).
 */
export abstract class PrincipalReader {
  abstract resolve(credential: Credential): Promise<Principal>;
  /** Past every cache; single-flight per credential. Called when admission says the record is stale. */
  abstract reload(credential: Credential): Promise<Principal>;
}

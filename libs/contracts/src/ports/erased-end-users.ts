/** An end user whom an erasure has forgotten. */
export interface ErasedEndUser {
  accountId: string;
  endUserHash: string;
  /** What was kept of them up to then is to go. */
  erasedAtMs: number;
}

/**
 * Erasures, for services that keep something of end users in memory. Drivers: in process (usage service); HTTP.
 * Throws ApiError `service_unavailable` where they cannot be asked.
 */
export abstract class ErasedEndUsers {
  /** Those erased since then, oldest first; `isAll` is false where more came later than the last of them. */
  abstract since(since: Date): Promise<{ erased: ErasedEndUser[]; isAll: boolean }>;
}

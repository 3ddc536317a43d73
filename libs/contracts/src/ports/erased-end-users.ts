/** An end user whom an erasure has forgotten. */
export interface ErasedEndUser {
  accountId: string;
  endUserHash: string;
  /** Contents stored up to this instant have to be removed. */
  erasedAtMs: number;
}

/**
 * Erasures, for services that keep something of end users in memory. Drivers: in process (usage service); HTTP.
 * Throws ApiError `service_unavailable` where they cannot be asked.
 */
export abstract class ErasedEndUsers {
  /** Returns the people erased since then, oldest first. `isAll` is false where later ones follow the last returned. */
  abstract since(since: Date): Promise<{ erased: ErasedEndUser[]; isAll: boolean }>;
}

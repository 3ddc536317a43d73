/** Request and answer of one unit, of an organization that logs contents. */
export interface UnitContent {
  request_id: string;
  unit: number;
  account_id: string;
  org_id: string;
  member_id: string;
  key_id: string;
  end_user_hash: string | null;
  endpoint: string;
  /** ISO 8601; when the request came. */
  created_at: string;
  retention_days: number;
  /** Personal data is masked, too; credentials always are. */
  redact: boolean;
  /** Request as it came; null where it was too long or is no JSON. */
  request: string | null;
  request_bytes: number;
  /** Answer as it was sent, a stream as its frames; null where it was too long, is no text, or there was none. */
  response: string | null;
  response_bytes: number;
}

/** An end user whom an erasure has forgotten. */
export interface ErasedEndUser {
  accountId: string;
  endUserHash: string;
  /** Contents stored up to this instant have to be removed. */
  erasedAtMs: number;
}

/**
 * Store of logged contents, and of the end users whose contents have to go. Drivers: in process (usage service); HTTP.
 * Throws ApiError `service_unavailable` where it cannot be asked.
 */
export abstract class RequestContents {
  /** Keeps them; a repeat changes nothing. */
  abstract keep(contents: readonly UnitContent[]): Promise<void>;
  /**
   * Returns the end users erased since then, oldest first, for services that keep something of them in memory. `isAll` is
   * false where later ones follow the last returned.
   */
  abstract erasedSince(since: Date): Promise<{ erased: ErasedEndUser[]; isAll: boolean }>;
}

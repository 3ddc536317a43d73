import type { ScopeKind } from './principal.js';

/**
 * The ledger as other services see it. Drivers: in process (usage service); HTTP.
 * Throws ApiError `service_unavailable` where it cannot be asked.
 */
export abstract class Funds {
  /** Mirrors posted totals of these scopes into the LimitStore for this generation. */
  abstract seedGate(accountId: string, gen: string, scopes: { kind: ScopeKind; id: string }[]): Promise<void>;
  /**
   * Spend per scope: lifetime for a key, the last 30 days above it. Decimal strings of USD. A person may be a member
   * of several orgs: with `accountId` only what that account paid counts.
   */
  abstract spent(scopes: { kind: ScopeKind; id: string }[], accountId?: string): Promise<string[]>;
  /** Credits an account once per `source`; a repeat changes nothing. */
  abstract credit(credit: {
    accountId: string;
    orgId: string | null;
    amountUsd: string;
    kind: 'admin_grant';
    source: string;
  }): Promise<void>;
  /** Highest sequence of this producer and epoch below which everything has been applied; 0 = none. */
  abstract watermark(producer: string, epoch: string): Promise<number>;
}

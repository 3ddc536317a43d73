import type { SpendScope } from './principal.js';

/** First and last number. */
export type AppliedRange = readonly [number, number];

/**
 * The ledger as other services see it. Drivers: in process (usage service); HTTP.
 * Throws ApiError `service_unavailable` where it cannot be asked.
 */
export abstract class Funds {
  /** Reports the posted totals of these scopes to the LimitStore, for this generation; null = where it knows them already. */
  abstract seedSpendLimit(
    accountId: string,
    gen: string | null,
    scopes: { kind: SpendScope; id: string }[],
  ): Promise<void>;
  /**
   * Spend per scope: lifetime for a key, the last 30 days above it. Decimal strings of USD. Only what the account paid counts,
   * because a person may be a member of several organizations; null, which names no account, is for keys alone.
   */
  abstract spent(scopes: { kind: SpendScope; id: string }[], accountId: string | null): Promise<string[]>;
  /** Posted balance of an account as decimal text of USD; `0` for one that the ledger does not know. */
  abstract balance(accountId: string): Promise<string>;
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
  /**
   * Ranges of sequence numbers above `above` that are applied, posted or dead-lettered alike, ascending and at most 10,000:
   * what is named must not be put again.
   */
  abstract applied(producer: string, epoch: string, above: number): Promise<AppliedRange[]>;
  /**
   * Tells that a process with this journal lives, or that all records of an epoch are sent. One that is not heard of and has
   * not ended is missed: its records may be lost.
   */
  abstract heard(producer: string, epoch: string, isEnded: boolean): Promise<void>;
  /** Looks the account's due units up now and reports those that are posted to the LimitStore, which frees them there. */
  abstract reportDue(accountId: string): Promise<void>;
}

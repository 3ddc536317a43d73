import { Inject, Injectable } from '@nestjs/common';
import { Funds, type AdmitRequest, type Clock } from '@gateway/contracts';
import { unitScopes } from '@gateway/limits';
import { CLOCK } from '@gateway/platform';
import { StoreWatch } from './store-watch.js';

/** Least time between two readings for an account that is refused. */
const REFRESH_GAP_MS = 10_000;
const ACCOUNTS_MAX = 10_000;

/** Totals that the ledger has posted, brought to a limit store that does not know them. */
@Injectable()
export class PostedTotals {
  /** Monotonic times of the last readings, by account. */
  private readonly refreshed = new Map<string, number>();

  constructor(
    private readonly funds: Funds,
    private readonly watch: StoreWatch,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Reports the posted totals of the request's scopes to the store. Throws ApiError service_unavailable. */
  async seed(request: AdmitRequest, gen: string): Promise<void> {
    // Posted totals alone would hide what this process has not shipped yet.
    await this.watch.settled();
    await this.funds.seedSpendLimit(request.accountId, gen, unitScopes(request));
  }

  /**
   * Has the store learn what no longer counts in a rolling budget, for which no posting comes. False where that was done a moment
   * ago, or could not be. Never rejects.
   */
  async refresh(request: AdmitRequest): Promise<boolean> {
    const { accountId } = request;
    const now = this.clock.monotonic();
    if (now < (this.refreshed.get(accountId) ?? -Infinity) + REFRESH_GAP_MS) return false;
    if (this.refreshed.size >= ACCOUNTS_MAX) this.refreshed.clear();
    this.refreshed.set(accountId, now);
    try {
      await this.funds.seedSpendLimit(accountId, null, unitScopes(request));
      return true;
    } catch {
      return false;
    }
  }

  /** Frees what is posted already and still counted as held. Never rejects. */
  async free(accountId: string): Promise<void> {
    await this.funds.reportDue(accountId).catch(() => undefined);
  }
}

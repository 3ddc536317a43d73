import { Injectable } from '@nestjs/common';
import { Funds, type AdmitRequest } from '@gateway/contracts';
import { unitScopes } from '@gateway/limits';
import { StoreWatch } from './store-watch.js';

/** Totals that the ledger has posted, brought to a limit store that does not know them. */
@Injectable()
export class PostedTotals {
  constructor(
    private readonly funds: Funds,
    private readonly watch: StoreWatch,
  ) {}

  /** Reports the posted totals of the request's scopes to the store. Throws ApiError service_unavailable. */
  async seed(request: AdmitRequest, gen: string): Promise<void> {
    // Posted totals alone would hide what this process has not shipped yet.
    await this.watch.settled();
    await this.funds.seedSpendLimit(request.accountId, gen, unitScopes(request));
  }

  /** Frees what is posted already and still counted as held. Never rejects. */
  async free(accountId: string): Promise<void> {
    await this.funds.reportDue(accountId).catch(() => undefined);
  }
}

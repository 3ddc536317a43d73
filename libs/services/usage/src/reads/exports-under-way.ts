import { ApiError, type Random } from '@gateway/contracts';
import { unavailable } from '@gateway/platform';

/** CSVs that one process writes at once: each holds a page of events and a connection now and then. */
const ALL_MAX = 8;
/** Of one account: readers of it who are slow, or many, leave room for others. */
const ACCOUNT_MAX = 4;
const RETRY_SECONDS = 10;

/** Which exports are being written now. */
export class ExportsUnderWay {
  private readonly ofAccount = new Map<string, number>();
  private all = 0;

  constructor(private readonly random: Random) {}

  /**
   * Takes a place, which the function that it returns gives back, once. Throws ApiError `rate_limit_exceeded` where the
   * account has its share, `service_unavailable` where the process has.
   */
  begin(accountId: string): () => void {
    const own = this.ofAccount.get(accountId) ?? 0;
    if (own >= ACCOUNT_MAX)
      throw new ApiError('rate_limit_exceeded', {
        message: `An account has at most ${ACCOUNT_MAX} exports at once.`,
        retryAfterSeconds: RETRY_SECONDS,
      });
    if (this.all >= ALL_MAX) throw unavailable(this.random);
    this.all += 1;
    this.ofAccount.set(accountId, own + 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.end(accountId);
      isHeld = false;
    };
  }

  private end(accountId: string): void {
    this.all -= 1;
    const left = (this.ofAccount.get(accountId) ?? 0) - 1;
    if (left > 0) this.ofAccount.set(accountId, left);
    else this.ofAccount.delete(accountId);
  }
}

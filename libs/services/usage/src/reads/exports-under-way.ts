import { ApiError, type Random } from '@gateway/contracts';
import { unavailable } from '@gateway/platform';

/** CSVs that one process writes at once: each holds a page of events and a connection now and then. */
const ALL_MAX = 8;
const RETRY_SECONDS = 10;

/** Which exports are being written now. */
export class ExportsUnderWay {
  private readonly ofAccount = new Map<string, number>();
  private all = 0;

  constructor(private readonly random: Random) {}

  /**
   * Takes a place, which the function that it returns gives back, once. An account takes no more places than it leaves free:
   * alone it has half of them, and slow readers of two accounts cannot hold all. Throws ApiError `rate_limit_exceeded` for
   * an account that has its share, `service_unavailable` where no place is free.
   */
  begin(accountId: string): () => void {
    const own = this.ofAccount.get(accountId) ?? 0;
    const free = ALL_MAX - this.all;
    if (own > 0 && own >= free)
      throw new ApiError('rate_limit_exceeded', {
        message: 'Other exports of this account are being read; wait until one of them has ended.',
        retryAfterSeconds: RETRY_SECONDS,
      });
    if (free === 0) throw unavailable(this.random);
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

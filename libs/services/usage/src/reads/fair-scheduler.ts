import { Inject, Injectable } from '@nestjs/common';
import { ApiError, type Clock, type Random, type Timer } from '@gateway/contracts';
import { CLOCK, RANDOM, unavailable } from '@gateway/platform';
import { UsageConfig } from '../usage.config.js';

/** Connections that reads leave to postings, to balances and to what admission asks. */
const LEFT = 2;
/** A page of events asks for its rows and for their number at once. */
const PER_READ = 2;
/** Number of waiting reads of one account, and of all. */
const WAITING_MAX = 50;
const ALL_WAITING_MAX = 500;
/** Longest wait, as long as a statement may take. */
const WAIT_MS = 15_000;
const RETRY_SECONDS = 10;
/**
 * Time after a read in which its account is taken to read on: a page is read, looked at, and the next one asked for.
 */
const READING_MS = 5_000;
/** Time that an account may read beyond its half: a dashboard asks for all of its parts at once. */
const AHEAD_MS = 1_000;
/** Longest wait after a read that took very long. */
const REST_MAX_MS = 2_000;

interface Account {
  running: number;
  waiting: number;
  /** End of its last read. */
  endedMs: number;
  /** Instant from which it may read beside others: each read moves it by twice its time. */
  dueMs: number;
}

interface Waiting {
  account: Account;
  begin: () => void;
}

/**
 * Scheduler of reads. Sums over a long history may take seconds: many of one account would take processors and database
 * connections from the reads of others and from postings. The places are divided by the accounts
 * that read and one more, which may come at any time: an account alone has half of them. While others read, an account
 * that reads without a pause has its places for half of the time.
 */
@Injectable()
export class FairScheduler {
  /** Accounts that read or wait, and those that have read lately: the one whose read ended last is last. */
  private readonly accounts = new Map<string, Account>();
  /** Reads in the order in which they came. */
  private readonly waiting = new Set<Waiting>();
  private readonly max: number;
  private all = 0;
  /** Timer of the next account's rest. */
  private rested: Timer | null = null;

  constructor(
    @Inject(UsageConfig)
    { USAGE_DATABASE_CONNECTIONS: connections }: Pick<UsageConfig, 'USAGE_DATABASE_CONNECTIONS'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    this.max = Math.max(1, Math.floor((connections - LEFT) / PER_READ));
  }

  /**
   * Reads once the account has a place. Throws ApiError `rate_limit_exceeded` for an account of which too many wait, and
   * what `read` throws. Throws `service_unavailable` where too many wait in all and for one that has waited too long.
   */
  async of<T>(accountId: string, read: () => Promise<T>): Promise<T> {
    const account = this.accounts.get(accountId) ?? {
      ...{ running: 0, waiting: 0 },
      ...{ endedMs: -Infinity, dueMs: -Infinity },
    };
    await this.place(accountId, account);
    const beganMs = this.clock.monotonic();
    try {
      return await read();
    } finally {
      const nowMs = this.clock.monotonic();
      const spentMs = (2 * (nowMs - beganMs)) / this.ownMax();
      account.dueMs = Math.min(nowMs + REST_MAX_MS, Math.max(account.dueMs, beganMs - AHEAD_MS) + spentMs);
      account.endedMs = nowMs;
      account.running -= 1;
      this.all -= 1;
      this.accounts.delete(accountId);
      this.accounts.set(accountId, account);
      this.beginNext();
    }
  }

  private place(accountId: string, account: Account): Promise<void> {
    const { clock, random } = this;
    if (account.waiting >= WAITING_MAX)
      throw new ApiError('rate_limit_exceeded', {
        message: 'Too many usage reads of this account are waiting: send it again after Retry-After.',
        retryAfterSeconds: RETRY_SECONDS,
      });
    if (this.waiting.size >= ALL_WAITING_MAX) throw unavailable(random);
    this.accounts.set(accountId, account);
    account.waiting += 1;
    return new Promise((begun, refused) => {
      const waiting: Waiting = {
        account,
        begin: () => {
          late.cancel();
          begun();
        },
      };
      const late: Timer = clock.setTimer(WAIT_MS, () => {
        this.leave(waiting);
        refused(unavailable(random));
      });
      this.waiting.add(waiting);
      this.beginNext();
    });
  }

  /** Begins a read of the account that has the fewest running; of two the one that has waited longer. */
  private beginNext(): void {
    const ownMax = this.ownMax();
    this.rested?.cancel();
    this.rested = null;
    const wanting = (): Waiting[] => [...this.waiting].filter(({ account }) => account.running < ownMax);
    while (this.all < this.max) {
      const [next] = wanting()
        .filter(({ account }) => this.restOf(account) === 0)
        .toSorted((a, b) => a.account.running - b.account.running);
      if (next === undefined) break;
      this.leave(next);
      this.all += 1;
      next.account.running += 1;
      next.begin();
    }
    const rests = wanting().map(({ account }) => this.restOf(account));
    const restMs = Math.min(...rests.filter((ms) => ms > 0));
    if (restMs !== Infinity) this.rested = this.clock.setTimer(restMs, () => this.beginNext());
  }

  private leave(waiting: Waiting): void {
    this.waiting.delete(waiting);
    waiting.account.waiting -= 1;
  }

  /** Returns how long the account lets others read first; 0 = not at all. */
  private restOf({ dueMs }: Account): number {
    return this.accounts.size > 1 ? Math.max(0, dueMs - this.clock.monotonic()) : 0;
  }

  /** Places that an account may have at once. */
  private ownMax(): number {
    const sinceMs = this.clock.monotonic() - READING_MS;
    for (const [accountId, { running, waiting, endedMs }] of this.accounts) {
      if (running + waiting > 0) continue;
      if (endedMs > sinceMs) break;
      this.accounts.delete(accountId);
    }
    return Math.max(1, Math.floor(this.max / (this.accounts.size + 1)));
  }
}

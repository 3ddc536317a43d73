import { ApiError, type Clock, type Random, type Timer } from '@gateway/contracts';
import { unavailable } from '@gateway/platform';

/** Connections that reads leave to postings, to balances and to what admission asks. */
const LEFT = 2;
/** A page of events asks for its rows and for their number at once. */
const PER_READ = 2;
/** Of one account, and of all. */
const WAITING_MAX = 50;
const ALL_WAITING_MAX = 500;
/** As long as a statement may take. */
const WAIT_MS = 15_000;
const RETRY_SECONDS = 10;
/** Who has read since is taken to read on: a page is asked for, looked at, and the next one asked for. */
const READING_MS = 5_000;

interface Waiting {
  accountId: string;
  begin: () => void;
}

/**
 * Whose read goes next: sums over a long history may take seconds, and many of one account would take all processors and all
 * connections of the database from the reads of others and from postings. The turns are divided by the accounts that read and
 * one more, which may come at any time: an account alone has half of them.
 */
export class ReadTurns {
  private readonly running = new Map<string, number>();
  /** In the order in which they came. */
  private readonly waiting = new Set<Waiting>();
  /** When the last read of an account ended, oldest first. */
  private readonly ended = new Map<string, number>();
  private readonly max: number;
  private all = 0;

  constructor(private readonly deps: { connections: number; clock: Clock; random: Random }) {
    this.max = Math.max(1, Math.floor((deps.connections - LEFT) / PER_READ));
  }

  /**
   * Reads when it is the account's turn. Throws ApiError `rate_limit_exceeded` for an account of which too many wait,
   * `service_unavailable` where too many wait in all and for one that has waited too long, and what `read` throws.
   */
  async of<T>(accountId: string, read: () => Promise<T>): Promise<T> {
    await this.turn(accountId);
    try {
      return await read();
    } finally {
      this.all -= 1;
      const left = this.ofAccount(accountId) - 1;
      if (left > 0) this.running.set(accountId, left);
      else this.running.delete(accountId);
      this.ended.delete(accountId);
      this.ended.set(accountId, this.deps.clock.now());
      this.beginNext();
    }
  }

  private turn(accountId: string): Promise<void> {
    const { clock, random } = this.deps;
    const own = [...this.waiting].filter((other) => other.accountId === accountId).length;
    if (own >= WAITING_MAX)
      throw new ApiError('rate_limit_exceeded', {
        message: 'Other usage reads of this account are waiting; ask again when some of them were answered.',
        retryAfterSeconds: RETRY_SECONDS,
      });
    if (this.waiting.size >= ALL_WAITING_MAX) throw unavailable(random);
    return new Promise((begun, refused) => {
      const waiting: Waiting = {
        accountId,
        begin: () => {
          late.cancel();
          begun();
        },
      };
      const late: Timer = clock.setTimer(WAIT_MS, () => {
        this.waiting.delete(waiting);
        refused(unavailable(random));
      });
      this.waiting.add(waiting);
      this.beginNext();
    });
  }

  /** Of the account that has the fewest under way; of two the one that has waited longer. */
  private beginNext(): void {
    const ownMax = Math.max(1, Math.floor(this.max / (this.accountsReading() + 1)));
    while (this.all < this.max) {
      const [next] = [...this.waiting]
        .filter(({ accountId }) => this.ofAccount(accountId) < ownMax)
        .toSorted((a, b) => this.ofAccount(a.accountId) - this.ofAccount(b.accountId));
      if (next === undefined) return;
      this.waiting.delete(next);
      this.all += 1;
      this.running.set(next.accountId, this.ofAccount(next.accountId) + 1);
      next.begin();
    }
  }

  private accountsReading(): number {
    const since = this.deps.clock.now() - READING_MS;
    for (const [accountId, at] of this.ended) {
      if (at > since) break;
      this.ended.delete(accountId);
    }
    const asking = [...this.waiting].map(({ accountId }) => accountId);
    return new Set([...this.running.keys(), ...this.ended.keys(), ...asking]).size;
  }

  private ofAccount(accountId: string): number {
    return this.running.get(accountId) ?? 0;
  }
}

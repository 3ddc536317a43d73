import type { Clock, Random } from '@gateway/contracts';
import { unavailable } from '@gateway/platform';
import { AccountShare } from '../state/account-share.js';

/** Callers are there for so long after a request of one began. */
const CALLERS_MS = 1_000;
/** Lines that may begin at once after a rest: a small batch does not wait. */
const BURST = 10;
/**
 * Time within which due lines begin together: they share a write of the journal, trips to Redis and an append to the
 * log, which cost more than the rest of a line.
 */
const GROUP_MS = 1_000;
/** Lines that wait for their turn, half of them of one account: those of one workers process are 32. */
const WAITING_MAX = 64;

/**
 * Pacing of batch lines. A line costs a process as much as a chat, and somebody waits for the chat. While requests of
 * callers come in, a number of lines begins once a second, in the order in which they came; else each begins at once.
 */
export class BatchPace {
  /** Start of the last request of a caller, on the monotonic clock. */
  callerMs = -Infinity;
  /** Time at which the next line is due at this pace. */
  private dueMs = -Infinity;
  private readonly waiting = new AccountShare(WAITING_MAX);
  private readonly intervalMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
    linesPerSecond: number,
  ) {
    this.intervalMs = 1_000 / linesPerSecond;
  }

  /** Returns when the line may begin. Throws 503 where too many wait, or too many of the account, to be sent again. */
  async turn(accountId: string): Promise<void> {
    const nowMs = this.clock.monotonic();
    if (nowMs - this.callerMs > CALLERS_MS) return;
    const startMs = Math.max(this.dueMs, nowMs - BURST * this.intervalMs);
    const dueMs = startMs + this.intervalMs;
    if (dueMs > nowMs && !this.waiting.take(accountId))
      throw unavailable(this.random, new Error('too many lines of batches wait'));
    this.dueMs = dueMs;
    if (dueMs <= nowMs) return;
    const groupMs = Math.ceil(dueMs / GROUP_MS) * GROUP_MS;
    try {
      await this.clock.sleep(groupMs - nowMs);
    } finally {
      this.waiting.release(accountId);
    }
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, LOGGER } from '@gateway/platform';
import {
  counterScope,
  HELD_KINDS,
  heldCounter,
  LimitStore,
  type AccountState,
  type Clock,
} from '@gateway/contracts';
import type { Logger } from 'pino';
import { Projections } from '../projection/projections.js';

/**
 * Interval between two looks; longer after a while, so that reads that wait for a late ledger leave the store alone.
 */
const POLL_MS = 10;
const POLL_MAX_MS = 100;
/**
 * A request under way may be one whose answer is out and whose settle is not: it is put once its outcome is on disk. A
 * group commit that has just missed one waits for it and then for its own. A disk that others write to takes more
 * than 100 ms for the two: with that a balance was read one request too high.
 */
const SETTLE_GRACE_MS = 250;
/**
 * Time that a read waits for finished units to be posted: several times what a busy fleet takes, and no longer than a
 * caller waits. One that finished after the read had begun is not waited for, so that traffic does not hold up reads.
 */
const POSTED_MS = 3_000;
/** Time that a balance waits for the projection of what was posted while it was read. */
const MATCHED_MS = 500;

/** Scopes in the order of HELD_KINDS. */
const HELD_SCOPES = HELD_KINDS.map((kind) => counterScope('', heldCounter(kind)));

/**
 * Lets a finished request show in the next read: a unit is in the limit store from admission until its posting was
 * projected. So a read waits, within bounds, until none is left that has finished.
 */
@Injectable()
export class Freshness {
  constructor(
    private readonly limits: LimitStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(Projections) private readonly projections: Pick<Projections, 'reportDueOf'>,
  ) {}

  /** Waits until every finished unit of the account is posted, for at most three seconds. */
  posted(accountId: string): Promise<void> {
    return this.wait(accountId, POSTED_MS);
  }

  /** Waits until a unit that has just finished is settled, for at most a quarter of a second. */
  async settled(accountId: string): Promise<void> {
    await this.wait(accountId, 0);
    // One that was put again after its posting counts twice until somebody looks.
    await this.projections.reportDueOf(accountId).catch(() => undefined);
  }

  /**
   * Unposted spend and the ledger's balance as of one moment: the limit store has the very version that the ledger
   * has, or holds nothing unposted. After half a second what was found last is the answer. Its scopes are those of
   * HELD_KINDS.
   */
  async matched<T extends { version: number } | null>(
    accountId: string,
    read: () => Promise<T>,
  ): Promise<{ state: AccountState; posted: T }> {
    const { clock, limits } = this;
    const start = clock.monotonic();
    for (;;) {
      const state = await limits.read(accountId, HELD_SCOPES);
      const posted = await read();
      const mirrored = state.posted?.find(({ kind }) => kind === 'account')?.version ?? 0;
      const isMatched = state.unpostedUnits === 0 || mirrored === (posted?.version ?? 0);
      if (isMatched || clock.monotonic() - start >= MATCHED_MS) return { state, posted };
      await clock.sleep(POLL_MS);
    }
  }

  private async wait(accountId: string, postedMs: number): Promise<void> {
    const { clock, limits, logger } = this;
    const start = clock.monotonic();
    let settledBy: number | undefined;
    try {
      for (;;) {
        const waited = clock.monotonic() - start;
        const { asOf, reservedUnits, unpostedUnits } = await limits.read(accountId, [], settledBy);
        settledBy ??= asOf + SETTLE_GRACE_MS;
        const isWanting =
          (reservedUnits > 0 && waited < SETTLE_GRACE_MS) || (unpostedUnits > 0 && waited < postedMs);
        if (!isWanting) return;
        await clock.sleep(Math.min(POLL_MAX_MS, Math.max(POLL_MS, waited / 10)));
      }
    } catch (failure) {
      // The read itself needs no limit store.
      logger.warn({ err: failure }, 'a read did not wait for what is unposted');
    }
  }
}

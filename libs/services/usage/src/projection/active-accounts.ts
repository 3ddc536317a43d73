import { Inject, Injectable } from '@nestjs/common';
import { CLOCK } from '@gateway/platform';
import type { Clock } from '@gateway/contracts';

/** Longer than a lease and a settle's look-up time together. */
const ACTIVE_MS = 180_000;
const ACCOUNTS_MAX = 100_000;

/** Accounts whose units may become due: those with postings or gate seeds of late. */
@Injectable()
export class ActiveAccounts {
  private readonly seenAt = new Map<string, number>();

  constructor(@Inject(CLOCK) private readonly clock: Clock) {}

  add(accountId: string): void {
    this.seenAt.delete(accountId);
    this.seenAt.set(accountId, this.clock.monotonic());
    if (this.seenAt.size <= ACCOUNTS_MAX) return;
    // The one that rested longest; the round over all accounts of the last day looks at it.
    for (const oldest of this.seenAt.keys()) {
      this.seenAt.delete(oldest);
      return;
    }
  }

  list(): string[] {
    return [...this.seenAt.keys()];
  }

  /** Nothing is due now: an account that rests is forgotten. */
  atRest(accountId: string): void {
    const seenAt = this.seenAt.get(accountId);
    if (seenAt !== undefined && this.clock.monotonic() - seenAt > ACTIVE_MS) this.seenAt.delete(accountId);
  }
}

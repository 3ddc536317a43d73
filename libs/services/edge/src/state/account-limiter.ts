import { Inject, Injectable } from '@nestjs/common';
import type { Random } from '@gateway/contracts';
import { Deadlines, RANDOM, unavailable } from '@gateway/platform';

/**
 * Number of running calls in one process, and of one account among them: few, so that calls of others find connections.
 */
const UNDER_WAY_MAX = 8;
const OF_ACCOUNT_MAX = 4;
const WAITING_MAX = 2_048;
const WAITING_OF_ACCOUNT_MAX = 512;
const WAIT_MS = 2_000;

interface Line {
  underWay: number;
  /** Callbacks of waiting calls. */
  readonly waiting: Set<() => void>;
}

/**
 * Turns of accounts at reads whose size nobody knows before: a customer that asks for much fills a line of its own. Who
 * waits too long, or finds too many waiting, is refused with service_unavailable.
 */
@Injectable()
export class AccountLimiter {
  /** The account whose turn is next first. */
  private readonly lines = new Map<string, Line>();
  private underWay = 0;
  private waiting = 0;

  constructor(
    @Inject(Deadlines) private readonly deadlines: Pick<Deadlines, 'set'>,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async take<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(accountId) ?? { underWay: 0, waiting: new Set() };
    this.lines.set(accountId, line);
    try {
      if (this.underWay >= UNDER_WAY_MAX || line.underWay >= OF_ACCOUNT_MAX) await this.wait(line);
      else this.begin(line);
      try {
        return await work();
      } finally {
        this.underWay -= 1;
        line.underWay -= 1;
        this.next();
      }
    } finally {
      const isEmpty = line.underWay === 0 && line.waiting.size === 0;
      if (isEmpty && this.lines.get(accountId) === line) this.lines.delete(accountId);
    }
  }

  private begin(line: Line): void {
    this.underWay += 1;
    line.underWay += 1;
  }

  private async wait(line: Line): Promise<void> {
    if (this.waiting >= WAITING_MAX || line.waiting.size >= WAITING_OF_ACCOUNT_MAX)
      throw unavailable(this.random, new Error('too many wait for their turn'));
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        line.waiting.delete(start);
        this.waiting -= 1;
      };
      const late = this.deadlines.set(WAIT_MS, () => {
        leave();
        reject(unavailable(this.random, new Error(`no turn within ${WAIT_MS} ms`)));
      });
      const start = (): void => {
        late.cancel();
        leave();
        this.begin(line);
        resolve();
      };
      line.waiting.add(start);
      this.waiting += 1;
    });
  }

  /** The first of each account in turn, while the limit allows. */
  private next(): void {
    for (const [accountId, line] of this.lines) {
      if (this.underWay >= UNDER_WAY_MAX || this.waiting === 0) return;
      if (line.underWay >= OF_ACCOUNT_MAX) continue;
      const [first] = line.waiting;
      if (first === undefined) continue;
      first();
      this.lines.delete(accountId);
      this.lines.set(accountId, line);
    }
  }
}

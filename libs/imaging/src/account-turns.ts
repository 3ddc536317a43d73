/** The account that asks for work; its signal ends the wait where the caller leaves. */
export interface Asking {
  readonly accountId: string;
  readonly signal: AbortSignal;
}

/** Number of waiting works of one account from where on it gets no new one. */
const WAITING_OF_ACCOUNT_MAX = 32;

/**
 * Turns of accounts at work that takes a whole core: a few run at once, and the first of each account in turn comes next.
 * So whoever asks for much waits behind itself.
 */
export class AccountTurns {
  /** The account whose turn is next first. An account without waiting work has no entry. */
  private readonly lines = new Map<string, Set<() => void>>();
  private running = 0;

  constructor(private readonly atOnce: number) {}

  /** True where the account has so much waiting that it should begin nothing new. */
  isFull(accountId: string): boolean {
    return (this.lines.get(accountId)?.size ?? 0) >= WAITING_OF_ACCOUNT_MAX;
  }

  /** Runs the work in its turn. Rejects with the signal's reason, and runs nothing, where the caller leaves before. */
  async take<T>(asking: Asking, work: () => Promise<T>): Promise<T> {
    asking.signal.throwIfAborted();
    if (this.running >= this.atOnce) await this.wait(asking);
    else this.running += 1;
    try {
      return await work();
    } finally {
      this.running -= 1;
      this.next();
    }
  }

  private wait({ accountId, signal }: Asking): Promise<void> {
    const line = this.lines.get(accountId) ?? new Set();
    this.lines.set(accountId, line);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        signal.removeEventListener('abort', gone);
        line.delete(start);
        if (line.size === 0) this.lines.delete(accountId);
      };
      const start = (): void => {
        leave();
        this.running += 1;
        resolve();
      };
      const gone = (): void => {
        leave();
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', gone);
      line.add(start);
    });
  }

  private next(): void {
    const [first] = this.lines;
    if (first === undefined) return;
    const [accountId, line] = first;
    const [start] = line;
    start();
    if (line.size === 0) return;
    // Behind the others.
    this.lines.delete(accountId);
    this.lines.set(accountId, line);
  }
}

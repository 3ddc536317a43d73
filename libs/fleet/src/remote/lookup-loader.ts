import type { Clock } from '@gateway/contracts';

export interface LookupLoaderOptions<Q, A> {
  clock: Clock;
  /** Asks for several at once; answers in their order. A failure is everyone's of the batch. */
  send(questions: Q[]): Promise<readonly A[]>;
  /** Questions of one batch. */
  batchMax: number;
}

interface Waiting<Q, A> {
  question: Q;
  sinceMs: number;
  resolve: (answer: A) => void;
  reject: (failure: unknown) => void;
}

/** Error for waiters that are dropped: nobody was asked about them. */
export const SHED = new Error('too many unknown credentials wait');

/** Batches under way. */
const BATCHES_MAX = 4;
/** Number of waiters of all addresses together; past it the longest queue loses its oldest. */
const WAITING_MAX = 2_048;
/** Longest wait; a caller that waited longer would have given up, and the service is behind. */
const WAIT_MS_MAX = 1_000;

/**
 * Look-ups whose credential may be unknown. They share a few batches, and addresses take turns in them: a flood of
 * unknown credentials fills its own line, not that of a new key from elsewhere. Behind a proxy that is not trusted all
 * callers are one address, and nothing distinguishes a new key from the flood: so the newest of a line goes first and the oldest
 * is shed. Whoever comes last waits for one batch, however long the line is; in order of arrival, a flood that keeps the
 * line full would refuse everybody who comes after it.
 */
export class LookupLoader<Q, A> {
  /** Queues by address, the next to be served first. */
  private readonly lines = new Map<string, Waiting<Q, A>[]>();
  private waiting = 0;
  private underWay = 0;

  constructor(private readonly options: LookupLoaderOptions<Q, A>) {}

  ask(question: Q, address: string): Promise<A> {
    return new Promise((resolve, reject) => {
      if (this.waiting >= WAITING_MAX) this.shedLongest();
      const line = this.lines.get(address) ?? [];
      line.push({ question, sinceMs: this.options.clock.monotonic(), resolve, reject });
      this.lines.set(address, line);
      this.waiting += 1;
      // Those of the same tick of the event loop go together.
      if (this.underWay < BATCHES_MAX) queueMicrotask(() => this.next());
    });
  }

  private next(): void {
    while (this.underWay < BATCHES_MAX && this.waiting > 0) {
      const batch = this.take();
      if (batch.length > 0) void this.run(batch);
    }
  }

  private async run(batch: Waiting<Q, A>[]): Promise<void> {
    this.underWay += 1;
    try {
      const answers = await this.options.send(batch.map(({ question }) => question));
      batch.forEach(({ resolve }, at) => resolve(answers[at]));
    } catch (failure) {
      for (const { reject } of batch) reject(failure);
    }
    this.underWay -= 1;
    this.next();
  }

  /** The newest of each address in turn, until the batch is full. */
  private take(): Waiting<Q, A>[] {
    const batch: Waiting<Q, A>[] = [];
    const oldest = this.options.clock.monotonic() - WAIT_MS_MAX;
    for (const [address, line] of this.lines) {
      if (batch.length === this.options.batchMax) break;
      while (line.length > 0 && line[0].sinceMs < oldest) this.shedOldest(line);
      const newest = line.pop();
      // Put in again, the address comes last, and has its next turn in this batch where there is room.
      this.lines.delete(address);
      if (line.length > 0) this.lines.set(address, line);
      if (newest === undefined) continue;
      this.waiting -= 1;
      batch.push(newest);
    }
    return batch;
  }

  private shedLongest(): void {
    let [longest] = this.lines;
    for (const each of this.lines) if (each[1].length > longest[1].length) longest = each;
    const [address, line] = longest;
    this.shedOldest(line);
    if (line.length === 0) this.lines.delete(address);
  }

  private shedOldest(line: Waiting<Q, A>[]): void {
    line.shift()?.reject(SHED);
    this.waiting -= 1;
  }
}

import type { Clock, LimitStore, PutUnit, Timer } from '@gateway/contracts';

export interface PutQueueOptions {
  store: Pick<LimitStore, 'put'>;
  clock: Clock;
  /** Told once per failed batch, for a metric or a log line. */
  onFailure?: (cause: unknown) => void;
  /** Units that one call carries; default 64. */
  batchSize?: number;
  /** Longest wait of a unit for company; default 2 ms. */
  lingerMs?: number;
  /** Wait before a batch that failed is sent again; default 250 ms. */
  retryMs?: number;
  /** Units that wait at most; default 100,000. */
  capacity?: number;
}

/**
 * Carries settles, renewals and cancellations to the store behind the answers: nobody awaits it. One batch is on its
 * way at a time, so a unit's actions arrive in order; a batch that was not acknowledged is sent again, which the
 * store's table makes harmless.
 *
 * A later action of a unit replaces the earlier one that still waits: renew then settle is the settle. When the
 * queue is full, the oldest unit is dropped: a renewal then lapses with its lease, and a settle reaches the store
 * through the ledger's mirror, because its OUTCOME is in the journal. `isFull` lets the edge stop admitting before.
 */
export class PutQueue {
  private readonly options: Required<Omit<PutQueueOptions, 'onFailure'>> & Pick<PutQueueOptions, 'onFailure'>;
  private readonly waiting = new Map<string, PutUnit>();
  private timer: Timer | null = null;
  private sending: Promise<void> | null = null;
  private closed = false;
  /** After a failure the next batch waits for the retry timer, however full the queue is. */
  private backingOff = false;
  private droppedCount = 0;
  private failures = 0;

  constructor(options: PutQueueOptions) {
    this.options = { batchSize: 64, lingerMs: 2, retryMs: 250, capacity: 100_000, ...options };
  }

  add(put: PutUnit): void {
    const id = idOf(put);
    const earlier = this.waiting.get(id);
    // A settled or cancelled unit stays so; a renewal that was late must not bring it back.
    if (earlier?.action === 'settle' || (earlier && put.action === 'renew' && earlier.action !== 'renew'))
      return;
    this.waiting.delete(id);
    this.waiting.set(id, put);
    if (this.waiting.size > this.options.capacity) this.dropOldest();
    this.arm();
  }

  /** Takes units out that the ledger has posted already (PostgreSQL's watermark has passed them). */
  forget(accountId: string, units: Iterable<string>): void {
    for (const unit of units) this.waiting.delete(`${accountId} ${unit}`);
  }

  get pending(): number {
    return this.waiting.size;
  }

  get isFull(): boolean {
    return this.waiting.size >= this.options.capacity;
  }

  /** Units that the bound pushed out since the start. */
  get dropped(): number {
    return this.droppedCount;
  }

  /** Sends what waits, once; resolves when it was acknowledged or failed. Call `close` when nothing is added any more. */
  async flush(): Promise<void> {
    while (this.sending) await this.sending;
    while (this.waiting.size > 0) {
      const before = this.waiting.size;
      await this.send();
      if (this.waiting.size >= before) return;
    }
  }

  /** Sends everything that waits now. True when the store has all of it; false as soon as a batch fails. */
  async delivered(): Promise<boolean> {
    const last = [...this.waiting.values()].at(-1);
    if (last === undefined) return true;
    const failuresBefore = this.failures;
    while (this.waiting.get(idOf(last)) === last) {
      await (this.sending ?? this.send());
      if (this.failures > failuresBefore || this.closed) return false;
    }
    return true;
  }

  /** Sends what waits and stops its timer. What fails now is put again after a start, from the journal. */
  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    this.timer = null;
    await this.flush();
  }

  private arm(): void {
    if (this.closed || this.sending || this.backingOff) return;
    if (this.waiting.size >= this.options.batchSize) {
      this.start();
    } else {
      this.timer ??= this.options.clock.setTimer(this.options.lingerMs, () => this.start());
    }
  }

  private start(): void {
    this.timer?.cancel();
    this.timer = null;
    this.backingOff = false;
    void this.send();
  }

  private send(): Promise<void> {
    const batch = [...take(this.waiting.values(), this.options.batchSize)];
    if (batch.length === 0) return Promise.resolve();
    const sending = this.deliver(batch).then((acknowledged) => {
      this.sending = null;
      if (this.closed || this.waiting.size === 0) return;
      if (acknowledged) {
        this.arm();
        return;
      }
      this.backingOff = true;
      this.timer?.cancel();
      this.timer = this.options.clock.setTimer(this.options.retryMs, () => this.start());
    });
    this.sending = sending;
    return sending;
  }

  private async deliver(batch: PutUnit[]): Promise<boolean> {
    try {
      await this.options.store.put(batch);
    } catch (cause) {
      this.failures += 1;
      this.options.onFailure?.(cause);
      return false;
    }
    for (const put of batch) {
      // A newer action of the unit came while this one was on its way: that one still waits.
      if (this.waiting.get(idOf(put)) === put) this.waiting.delete(idOf(put));
    }
    return true;
  }

  private dropOldest(): void {
    for (const id of this.waiting.keys()) {
      this.waiting.delete(id);
      this.droppedCount += 1;
      return;
    }
  }
}

function idOf(put: PutUnit): string {
  return `${put.accountId} ${put.unit}`;
}

function* take<T>(values: Iterable<T>, count: number): Generator<T> {
  let taken = 0;
  for (const value of values) {
    if (taken >= count) return;
    taken += 1;
    yield value;
  }
}

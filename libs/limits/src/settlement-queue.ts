import { TurnoverMap, type Clock, type LimitStore, type PutUnit, type Timer } from '@gateway/contracts';

export interface SettlementQueueOptions {
  store: Pick<LimitStore, 'put'>;
  clock: Clock;
  /** Called once per batch of which something failed, for a metric or a log line. */
  onFailure?: (cause: unknown) => void;
  /** Called for each unit that waits no more: the store has it, the ledger has posted it, or the bound pushed it out. */
  onLeft?: (put: PutUnit) => void;
  /** Units that one call carries; default 64. */
  batchSize?: number;
  /** Longest wait of a unit for company; default 2 ms. */
  lingerMs?: number;
  /** Wait before an account that failed is tried again; default 250 ms. */
  retryMs?: number;
  /** Units that wait at most; default 100,000. */
  capacity?: number;
}

type Callback = 'onFailure' | 'onLeft';
type AccountQueue = TurnoverMap<string, PutUnit>;

/**
 * Carries settles, renewals and cancellations to the store behind the answers: nobody awaits it. One batch is on its
 * way at a time, so a unit's actions arrive in order; what was not acknowledged is sent again, which the store's table
 * makes harmless. Each account is acknowledged by itself: one whose node is unavailable rests until the next retry, and
 * holds up nobody else.
 *
 * A later action of a unit replaces the earlier one that still waits: renew then settle is the settle. When the
 * queue is full, an old unit is dropped: a renewal then lapses with its lease, and a settle reaches the store
 * through the ledger's mirror, because its OUTCOME is in the journal.
 */
export class SettlementQueue {
  private readonly options: Required<Omit<SettlementQueueOptions, Callback>> &
    Pick<SettlementQueueOptions, Callback>;
  /** Units that wait, by account, in the order in which the accounts are served. */
  private ready = new Map<string, AccountQueue>();
  /** Queues of failed accounts until the retry. */
  private readonly resting = new Map<string, AccountQueue>();
  private count = 0;
  private timer: Timer | null = null;
  private retry: Timer | null = null;
  private sending: Promise<void> | null = null;
  private closed = false;
  private droppedCount = 0;
  private failures = 0;

  constructor(options: SettlementQueueOptions) {
    this.options = { batchSize: 64, lingerMs: 2, retryMs: 250, capacity: 100_000, ...options };
  }

  add(put: PutUnit): void {
    const queue = this.queueOf(put.accountId);
    const earlier = queue.get(put.unit);
    // A settled or cancelled unit stays so; a renewal that was late must not bring it back.
    if (earlier?.action === 'settle' || (earlier && put.action === 'renew' && earlier.action !== 'renew'))
      return;
    if (earlier === undefined) this.count += 1;
    queue.delete(put.unit);
    queue.set(put.unit, put);
    if (this.count > this.options.capacity) this.dropOldest();
    this.arm();
  }

  get pending(): number {
    return this.count;
  }

  /** Units that the bound pushed out since the start. */
  get dropped(): number {
    return this.droppedCount;
  }

  /** Sends everything that waits now. True when the store has all of it; false as soon as a batch fails. */
  async delivered(): Promise<boolean> {
    const failuresBefore = this.failures;
    const waiting = new Set([...this.queues()].flatMap((queue) => [...queue.values()]));
    this.awake();
    while (this.waits(waiting)) {
      await (this.sending ?? this.send());
      if (this.failures > failuresBefore || this.closed) return false;
    }
    return true;
  }

  /** Sends what waits of one account now. True when the store has it, false where it is unavailable or the queue closes. */
  async deliveredOf(accountId: string): Promise<boolean> {
    const waiting = new Set(this.ready.get(accountId)?.values());
    while (this.waits(waiting)) {
      if (this.closed || this.resting.has(accountId)) return false;
      await (this.sending ?? this.send());
    }
    return !this.resting.has(accountId);
  }

  /** Sends what waits and stops its timers. What fails now is put again after a start, from the journal. */
  async close(): Promise<void> {
    this.closed = true;
    this.timer?.cancel();
    this.timer = null;
    while (this.sending) await this.sending;
    this.awake();
    while (this.ready.size > 0) await this.send();
  }

  private *queues(): Generator<AccountQueue> {
    yield* this.ready.values();
    yield* this.resting.values();
  }

  private queueOf(accountId: string): AccountQueue {
    let queue = this.ready.get(accountId) ?? this.resting.get(accountId);
    if (queue === undefined) {
      queue = new TurnoverMap<string, PutUnit>();
      this.ready.set(accountId, queue);
    }
    return queue;
  }

  private waits(units: Set<PutUnit>): boolean {
    for (const unit of units) {
      const queue = this.ready.get(unit.accountId) ?? this.resting.get(unit.accountId);
      if (queue?.get(unit.unit) === unit) return true;
      units.delete(unit);
    }
    return false;
  }

  private remove(accountId: string, unitId: string): void {
    for (const queues of [this.ready, this.resting]) {
      const queue = queues.get(accountId);
      const put = queue?.get(unitId);
      if (queue === undefined || put === undefined) continue;
      queue.delete(unitId);
      this.count -= 1;
      this.options.onLeft?.(put);
      if (queue.size === 0) queues.delete(accountId);
    }
  }

  private arm(): void {
    if (this.closed || this.sending || this.ready.size === 0) return;
    if (this.count >= this.options.batchSize) {
      this.start();
    } else {
      this.timer ??= this.options.clock.setTimer(this.options.lingerMs, () => this.start());
    }
  }

  private start(): void {
    this.timer?.cancel();
    this.timer = null;
    void this.send();
  }

  private send(): Promise<void> {
    const batch = this.nextBatch();
    if (batch.length === 0) return Promise.resolve();
    const sending = this.deliver(batch).finally(() => {
      this.sending = null;
      this.arm();
    });
    this.sending = sending;
    return sending;
  }

  /** Returns the next units by account; an account that was served and has more comes last. */
  private nextBatch(): PutUnit[][] {
    const batch: PutUnit[][] = [];
    let left = this.options.batchSize;
    for (const [accountId, queue] of this.ready) {
      if (left === 0) break;
      const units = [...take(queue.values(), left)];
      batch.push(units);
      left -= units.length;
      this.ready.delete(accountId);
      this.ready.set(accountId, queue);
      if (batch.length >= this.ready.size) break;
    }
    return batch;
  }

  private async deliver(batch: readonly PutUnit[][]): Promise<void> {
    const causes: unknown[] = [];
    await Promise.all(
      batch.map((units) =>
        this.options.store.put(units).then(
          () => this.acknowledge(units),
          (cause: unknown) => {
            causes.push(cause);
            this.rest(units[0].accountId);
          },
        ),
      ),
    );
    if (causes.length === 0) return;
    this.failures += 1;
    this.options.onFailure?.(causes[0]);
  }

  private acknowledge(units: readonly PutUnit[]): void {
    for (const put of units) {
      // A newer action of the unit came while this one was on its way: that one still waits.
      const queue = this.ready.get(put.accountId) ?? this.resting.get(put.accountId);
      if (queue?.get(put.unit) === put) this.remove(put.accountId, put.unit);
    }
  }

  private rest(accountId: string): void {
    const queue = this.ready.get(accountId);
    if (queue === undefined) return;
    this.ready.delete(accountId);
    this.resting.set(accountId, queue);
    if (this.closed) return;
    this.retry ??= this.options.clock.setTimer(this.options.retryMs, () => {
      this.awake();
      if (!this.sending) this.start();
    });
  }

  /** Wakes failed accounts first: they have waited longest. */
  private awake(): void {
    this.retry?.cancel();
    this.retry = null;
    if (this.resting.size === 0) return;
    this.ready = new Map([...this.resting, ...this.ready]);
    this.resting.clear();
  }

  private dropOldest(): void {
    for (const queue of [...take(this.resting.values(), 1), ...take(this.ready.values(), 1)]) {
      for (const { accountId, unit: unitId } of take(queue.values(), 1)) {
        this.remove(accountId, unitId);
        this.droppedCount += 1;
        return;
      }
    }
  }
}

function* take<T>(values: Iterable<T>, count: number): Generator<T> {
  let taken = 0;
  for (const value of values) {
    if (taken >= count) return;
    taken += 1;
    yield value;
  }
}

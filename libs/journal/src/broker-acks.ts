import type { Clock } from '@gateway/contracts';

/** An answer whose record the brokers have not confirmed. */
interface Waiter {
  seq: number;
  resolve(isLate: boolean): void;
}

/** Answers that wait until all replicas of the event log have their record, each for `waitMs` at most. */
export class BrokerAcks {
  /** Answers that went without an acknowledgement: they rest on the disk alone. */
  late = 0;
  private readonly waiting = new Set<Waiter>();
  private shippedSeq = 0;

  constructor(
    private readonly clock: Clock,
    private readonly waitMs: number,
  ) {}

  /** Resolves when the brokers have the record `seq` of this epoch, or after `waitMs`. Never rejects. */
  async acked(seq: number): Promise<void> {
    if (seq <= this.shippedSeq) return;
    const isLate = await new Promise<boolean>((resolve) => {
      const timer = this.clock.setTimer(this.waitMs, () => waiter.resolve(true));
      const waiter: Waiter = {
        seq,
        resolve: (late) => {
          timer.cancel();
          this.waiting.delete(waiter);
          resolve(late);
        },
      };
      this.waiting.add(waiter);
    });
    if (isLate) this.late += 1;
  }

  /** The brokers have everything up to `seq`. */
  shipped(seq: number): void {
    this.shippedSeq = Math.max(this.shippedSeq, seq);
    for (const waiter of this.waiting) if (waiter.seq <= seq) waiter.resolve(false);
  }
}

import type { Clock } from '@gateway/contracts';

/** A timer that fires later than this says that we were busy: who waits gets the time once more. */
const LATE_MS = 10;

interface Call {
  dueMs: number;
  isProlonged: boolean;
  giveUp: (reason: Error) => void;
}

/**
 * Calls that all have the same time to answer, behind one timer: one of their own each shows in the profile of a busy
 * process. A call that is over it is rejected with "Command timed out".
 *
 * A turn that kept the event loop longer than that makes the timer fire before the sockets are read; so what has arrived
 * by then is read first, and counts. Without this one body of 30 MB, whose parsing takes 100 ms, fails most admissions
 * that wait beside it (reliability 0).
 */
export class TimedCalls {
  /** In the order in which they are due. */
  private readonly open = new Set<Call>();
  private isArmed = false;

  constructor(
    private readonly ms: number,
    private readonly clock: Clock,
  ) {}

  /** The answer, or a rejection when its time is over. */
  inTime<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const call: Call = { dueMs: this.clock.monotonic() + this.ms, isProlonged: false, giveUp: reject };
      this.open.add(call);
      if (!this.isArmed) this.arm(this.ms);
      answer.then(
        (value) => {
          this.open.delete(call);
          resolve(value);
        },
        (error: Error) => {
          this.open.delete(call);
          reject(error);
        },
      );
    });
  }

  private arm(delayMs: number): void {
    this.isArmed = true;
    this.clock.setTimer(delayMs, () => this.look());
  }

  private look(): void {
    const now = this.clock.monotonic();
    const over: Call[] = [];
    for (const call of this.open) {
      if (call.dueMs > now) break;
      over.push(call);
    }
    for (const call of over) {
      if (call.isProlonged || now - call.dueMs < LATE_MS) this.end(call);
      else this.prolong(call, now);
    }
    this.isArmed = false;
    const [next] = this.open;
    if (next !== undefined) this.arm(Math.max(1, next.dueMs - now));
  }

  // Node runs timers, then reads sockets, then runs immediates: an answer that is there wins.
  private end(call: Call): void {
    this.open.delete(call);
    setImmediate(() => call.giveUp(new Error('Command timed out')));
  }

  private prolong(call: Call, now: number): void {
    call.isProlonged = true;
    call.dueMs = now + this.ms;
    this.open.delete(call);
    this.open.add(call);
  }
}

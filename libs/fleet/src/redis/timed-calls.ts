import type { Clock } from '@gateway/contracts';

/** A timer that fires later than this says that we were busy: who waits gets the time once more. */
const LATE_MS = 10;

/** In place of a rejection that is no longer needed: see TurnoverMap for what a Set would keep alive. */
const NOTHING = (): void => undefined;

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
  /** Of this turn: what it asks leaves at its end. */
  private readonly fresh = new Set<Call>();
  /** In the order in which they are due. */
  private readonly open = new Set<Call>();
  private isArmed = false;

  constructor(
    private readonly ms: number,
    private readonly clock: Clock,
  ) {}

  /** The answer, or a rejection when its time is over. It begins with the end of this turn of the event loop. */
  inTime<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const call: Call = { dueMs: Infinity, isProlonged: false, giveUp: reject };
      if (this.fresh.size === 0) setImmediate(() => this.begin());
      this.fresh.add(call);
      answer.then(
        (value) => {
          this.forget(call);
          resolve(value);
        },
        (error: Error) => {
          this.forget(call);
          reject(error);
        },
      );
    });
  }

  private begin(): void {
    const dueMs = this.clock.monotonic() + this.ms;
    for (const call of this.fresh) {
      call.dueMs = dueMs;
      this.open.add(call);
    }
    this.fresh.clear();
    if (!this.isArmed && this.open.size > 0) this.arm(this.ms);
  }

  private forget(call: Call): void {
    if (!this.fresh.delete(call)) this.open.delete(call);
    call.giveUp = NOTHING;
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
    setImmediate(() => {
      call.giveUp(new Error('Command timed out'));
      call.giveUp = NOTHING;
    });
  }

  private prolong(call: Call, now: number): void {
    call.isProlonged = true;
    call.dueMs = now + this.ms;
    this.open.delete(call);
    this.open.add(call);
  }
}

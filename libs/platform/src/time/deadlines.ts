import type { Clock } from '@gateway/contracts';

/** Precision of a deadline: it fires up to one tick late. */
const TICK_MS = 50;

export interface Deadline {
  cancel(): void;
}

/** Value in place of a finished callback: see TurnoverMap for what a bucket would retain. */
const NOTHING = (): void => undefined;

class Entry implements Deadline {
  constructor(
    readonly bucket: Set<Entry>,
    private callback: () => void,
  ) {}

  cancel(): void {
    this.bucket.delete(this);
    this.callback = NOTHING;
  }

  fire(): void {
    const { callback } = this;
    this.callback = NOTHING;
    callback();
  }
}

/**
 * Many coarse deadlines behind one timer: setting and cancelling cost a set operation, where a timer of the runtime per
 * request and phase shows in the profile of a busy process.
 */
export class Deadlines {
  private readonly buckets = new Map<number, Set<Entry>>();
  private isTicking = false;
  private lastTick: number;

  constructor(private readonly clock: Clock) {
    this.lastTick = this.tickOf(clock.monotonic());
  }

  set(delayMs: number, callback: () => void): Deadline {
    const at = this.tickOf(this.clock.monotonic() + delayMs) + 1;
    let bucket = this.buckets.get(at);
    if (!bucket) this.buckets.set(at, (bucket = new Set()));
    const entry = new Entry(bucket, callback);
    bucket.add(entry);
    if (!this.isTicking) {
      this.isTicking = true;
      this.lastTick = this.tickOf(this.clock.monotonic());
      this.schedule();
    }
    return entry;
  }

  private tickOf(atMs: number): number {
    return Math.floor(atMs / TICK_MS);
  }

  private schedule(): void {
    this.clock.setTimer(TICK_MS, () => {
      this.fire();
      if (this.buckets.size > 0) this.schedule();
      else this.isTicking = false;
    });
  }

  private fire(): void {
    const now = this.tickOf(this.clock.monotonic());
    for (let tick = this.lastTick + 1; tick <= now; tick += 1) {
      const bucket = this.buckets.get(tick);
      if (!bucket) continue;
      this.buckets.delete(tick);
      for (const entry of bucket) entry.fire();
    }
    this.lastTick = now;
  }
}

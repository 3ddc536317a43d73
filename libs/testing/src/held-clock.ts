import type { Clock, Timer } from '@gateway/contracts';

/** The machine's clock, but for sleeps of one length: they last until the test lets go. */
export class HeldClock implements Clock {
  /** Resolves when such a sleep has begun. */
  readonly sleeping: Promise<void>;
  private fellAsleep: () => void = () => undefined;
  private letGo: () => void = () => undefined;
  private readonly woken: Promise<void>;

  constructor(
    private readonly machine: Clock,
    private readonly heldMs: number,
  ) {
    this.sleeping = new Promise((resolve) => (this.fellAsleep = resolve));
    this.woken = new Promise((resolve) => (this.letGo = resolve));
  }

  now(): number {
    return this.machine.now();
  }

  monotonic(): number {
    return this.machine.monotonic();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return this.machine.setTimer(delayMs, callback);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    if (delayMs !== this.heldMs) return this.machine.sleep(delayMs, signal);
    this.fellAsleep();
    return this.woken;
  }

  wake(): void {
    this.letGo();
  }
}

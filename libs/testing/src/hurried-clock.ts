import type { Clock, Timer } from '@gateway/contracts';

const MOST_MS = 50;

/** The machine's own clock, but that who sleeps is woken soon: a test does not wait for the next look at a provider's task. */
export class HurriedClock implements Clock {
  constructor(private readonly machine: Clock) {}

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
    return this.machine.sleep(Math.min(delayMs, MOST_MS), signal);
  }
}

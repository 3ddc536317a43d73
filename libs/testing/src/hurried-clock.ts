import type { Clock, Timer } from '@gateway/contracts';

const MOST_MS = 50;
/** Shorter sleeps keep their time: they may bound a wait, which a slow machine needs whole. */
const HURRIED_FROM_MS = 2_000;

/** The machine's own clock, but that who sleeps for long is woken soon: a test does not wait for the next look at a provider's task. */
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
    return this.machine.sleep(delayMs < HURRIED_FROM_MS ? delayMs : MOST_MS, signal);
  }
}

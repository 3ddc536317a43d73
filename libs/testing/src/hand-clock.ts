import type { Clock, Timer } from '@gateway/contracts';

/**
 * A clock whose durations stand still until a test moves them, while timers and the time of day are the machine's own: what
 * a running process measures then no longer depends on how fast the machine is, and its loops go on.
 */
export class HandClock implements Clock {
  private elapsedMs = 0;

  constructor(private readonly machine: Clock) {}

  now(): number {
    return this.machine.now();
  }

  monotonic(): number {
    return this.elapsedMs;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return this.machine.setTimer(delayMs, callback);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return this.machine.sleep(delayMs, signal);
  }

  advance(ms: number): void {
    this.elapsedMs += ms;
  }
}

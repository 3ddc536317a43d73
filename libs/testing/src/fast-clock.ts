import type { Clock, Timer } from '@gateway/contracts';

/**
 * A clock that runs `speed` times as fast as the machine's, so that a test of a running process waits less. Clocks with the
 * same `from` show the same time, also in other processes.
 */
export class FastClock implements Clock {
  constructor(
    private readonly machine: Clock,
    private readonly speed: number,
    private readonly from: { machineMs: number; shownMs: number },
  ) {}

  now(): number {
    return this.from.shownMs + (this.machine.now() - this.from.machineMs) * this.speed;
  }

  monotonic(): number {
    return this.machine.monotonic() * this.speed;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    return this.machine.setTimer(delayMs / this.speed, callback);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return this.machine.sleep(delayMs / this.speed, signal);
  }
}

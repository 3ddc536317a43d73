import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Each sample wakes a process at rest: 100 a second took half of what it costs. */
const RESOLUTION_MS = 20;
const WINDOW_MS = 1_000;

/** The delay of the event loop in each of the last two seconds. */
export class LoopDelay {
  private readonly histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  /**
   * Delay that both windows reached, in milliseconds. One long block, such as a large parsed body or a garbage
   * collection, fills one window and is over when it is seen: a rejection then would be in vain.
   */
  meanMs = 0;
  private lastMs = 0;
  private endedMs = performance.now();
  private timer: NodeJS.Timeout | undefined;

  start(): void {
    this.histogram.enable();
    this.timer = setInterval(() => this.endWindow(), WINDOW_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.histogram.disable();
  }

  private endWindow(): void {
    const now = performance.now();
    this.see(this.histogram.mean / 1e6 - RESOLUTION_MS, now - this.endedMs);
    this.endedMs = now;
    this.histogram.reset();
  }

  /** Ends a window: the mean of its samples and how long it was. A block of a whole window leaves no sample, so NaN. */
  see(meanMs: number, lengthMs: number): void {
    const delayMs = Number.isNaN(meanMs) ? lengthMs - WINDOW_MS : meanMs;
    const windowMs = Math.max(0, delayMs);
    this.meanMs = Math.min(this.lastMs, windowMs);
    this.lastMs = windowMs;
  }
}

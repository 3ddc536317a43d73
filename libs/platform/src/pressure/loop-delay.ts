import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

/** Each sample wakes a process at rest: 100 a second took half of what it costs. */
const RESOLUTION_MS = 20;
const WINDOW_MS = 1_000;

/** The delay of the event loop in each of the last two seconds. */
export class LoopDelay {
  private readonly histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  /** Delays in nanoseconds for whoever reports them: each second adds its hundred percentiles. */
  readonly delays = createHistogram();
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
    const lengthMs = now - this.endedMs;
    this.see(this.histogram.mean / 1e6 - RESOLUTION_MS, lengthMs);
    for (let percent = 1; percent <= 100; percent += 1) {
      const delayMs = this.histogram.percentile(percent) / 1e6 - RESOLUTION_MS;
      this.delays.record(nanosecondsOf(this.histogram.count === 0 ? lengthMs - WINDOW_MS : delayMs));
    }
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

/** Returns the delay as a histogram takes it: at least 1. */
function nanosecondsOf(delayMs: number): number {
  return Math.max(1, Math.round(delayMs * 1e6));
}

import type { Clock } from '@gateway/contracts';
import type { BatchStore } from './batches.store.js';

/** Interval between looks whether another batch waits. */
const LOOK_MS = 1_000;

/** The batch gives its place to another one: whoever claims it next goes on with it. */
export class Rested extends Error {
  constructor() {
    super('The time slice of the batch is over.');
    this.name = 'Rested';
  }
}

/**
 * Time that a batch may run while another one waits for a worker. Without its end four batches of one key whose limit is
 * full would keep all others waiting until they expire.
 */
export class BatchTimeSlice {
  private readonly endsMs: number;
  private nextLookMs = -Infinity;
  private isGiven = false;

  constructor(
    private readonly batches: Pick<BatchStore, 'hasWaiting'>,
    private readonly clock: Clock,
    sliceMs: number,
  ) {
    this.endsMs = clock.monotonic() + sliceMs;
  }

  /** Throws Rested if the time slice is over and another batch waits. */
  async check(): Promise<void> {
    const nowMs = this.clock.monotonic();
    if (!this.isGiven && nowMs >= this.endsMs && nowMs >= this.nextLookMs) {
      this.nextLookMs = nowMs + LOOK_MS;
      this.isGiven = await this.batches.hasWaiting();
    }
    if (this.isGiven) throw new Rested();
  }

  /** Sleeps, and throws Rested as soon as the time slice is over. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    for (let left = ms; left > 0; left -= LOOK_MS) {
      await this.check();
      await this.clock.sleep(Math.min(left, LOOK_MS), signal);
    }
  }
}

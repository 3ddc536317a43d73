import { setImmediate as turn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Timer, Clock } from '@gateway/contracts';

/** Turns of the event loop in which a connection is accepted, its bytes are read, and its request is handled. */
const READING_TURNS = 5;

/** Time in which requests on connections that are open are still served after the listener was closed, in milliseconds. */
export const LATE_MS = 2_000;

/** Parts of a drain, in milliseconds. */
export interface DrainTimes {
  acceptMs: number;
  graceMs: number;
  endingMs: number;
}

async function readArrived(): Promise<void> {
  for (let n = 0; n < READING_TURNS; n += 1) await turn();
}

/** Requests under way and the way out of the process. */
@Injectable()
export class Drain {
  private readonly leaves = new AbortController();
  private readonly begins = new AbortController();
  private readonly ends = new AbortController();
  /** True once new requests are refused. */
  isDraining = false;
  private inFlight = 0;
  private idle: (() => void) | undefined;

  /** Aborted when the process is told to end: it is not ready, and each answer closes its connection. */
  readonly leaving = this.leaves.signal;
  /** Aborted when new requests are refused: what stays open between requests says so then. */
  readonly begun = this.begins.signal;
  /** Aborted when the grace is over: a stream that still runs ends with an in-band error. */
  readonly deadline = this.ends.signal;

  get requestsInFlight(): number {
    return this.inFlight;
  }

  entered(): void {
    this.inFlight += 1;
  }

  left(): void {
    this.inFlight -= 1;
    if (this.inFlight === 0) this.idle?.();
  }

  /**
   * Serves new requests for `acceptMs`, until those who send them know that this process leaves, and closes the
   * listener. Serves what open connections still bring for `LATE_MS`: a busy balancer sends some later than it connects.
   * Then refuses new requests and waits for those under way, at most `graceMs`, and shortly for their endings.
   * Refuses at once with `acceptMs` 0, and leaves the listener open, so that callers are told.
   */
  async run(
    clock: Clock,
    { acceptMs, graceMs, endingMs }: DrainTimes,
    stopListening: () => void,
  ): Promise<void> {
    this.leaves.abort();
    if (acceptMs > 0) {
      await clock.sleep(acceptMs);
      // A connection that was made and is not accepted yet would be reset.
      await readArrived();
      stopListening();
      await clock.sleep(LATE_MS);
    }
    this.isDraining = true;
    this.begins.abort();
    if (!(await this.isIdleWithin(clock, graceMs)))
      this.ends.abort(new Error('The grace of the drain is over.'));
    // What has arrived and is not read yet is refused like the rest, instead of being cut off by the close that follows.
    await readArrived();
    await this.isIdleWithin(clock, endingMs);
  }

  private isIdleWithin(clock: Clock, waitMs: number): Promise<boolean> {
    if (this.inFlight === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const state: { timer?: Timer } = {};
      this.idle = () => {
        state.timer?.cancel();
        resolve(true);
      };
      state.timer = clock.setTimer(waitMs, () => resolve(false));
    });
  }
}

import type { Clock, Timer } from '@gateway/contracts';

interface Waiting {
  at: number;
  callback: () => void;
}

/** A clock that stands still until the test moves it. */
export class FixedClock implements Clock {
  private wallMs: number;
  private elapsedMs = 0;
  private waiting: Waiting[] = [];

  constructor(startIso: string) {
    this.wallMs = Date.parse(startIso);
    if (Number.isNaN(this.wallMs)) throw new Error(`Not an ISO time: ${startIso}`);
  }

  /** Timers set and not yet run or cancelled: a test of clean-up expects 0. */
  get pendingTimers(): number {
    return this.waiting.length;
  }

  now(): number {
    return this.wallMs;
  }

  monotonic(): number {
    return this.elapsedMs;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const entry = { at: this.elapsedMs + Math.max(0, delayMs), callback };
    this.waiting.push(entry);
    return { cancel: () => void (this.waiting = this.waiting.filter((other) => other !== entry)) };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((wake, fail) => {
      if (signal?.aborted) return fail(reasonOf(signal));
      const abort = (): void => {
        timer.cancel();
        if (signal) fail(reasonOf(signal));
      };
      const timer = this.setTimer(delayMs, () => {
        signal?.removeEventListener('abort', abort);
        wake();
      });
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /**
   * Moves time on, running each timer at its own moment and in order, with everything that awaits it. Timers that these
   * set within the span run, too.
   */
  async advance(ms: number): Promise<void> {
    const end = this.elapsedMs + ms;
    await afterPromises();
    for (let next = this.nextUntil(end); next; next = this.nextUntil(end)) {
      const due = next;
      this.waiting = this.waiting.filter((other) => other !== due);
      this.moveTo(Math.max(due.at, this.elapsedMs));
      due.callback();
      await afterPromises();
    }
    this.moveTo(end);
  }

  /** The wall clock is set to another time, as by an operator or NTP; durations and timers do not notice. */
  step(toIso: string): void {
    this.wallMs = Date.parse(toIso);
  }

  private moveTo(elapsedMs: number): void {
    this.wallMs += elapsedMs - this.elapsedMs;
    this.elapsedMs = elapsedMs;
  }

  /** The earliest timer that is due by `end`; of two at the same moment the one set first. */
  private nextUntil(end: number): Waiting | undefined {
    return this.waiting
      .filter((entry) => entry.at <= end)
      .reduce<Waiting | undefined>(
        (first, entry) => (first && first.at <= entry.at ? first : entry),
        undefined,
      );
  }
}

/** A clock that shows `startIso`, for example '2026-01-31T23:59:59.500Z', until the test advances it. */
export function fixedClock(startIso: string): FixedClock {
  return new FixedClock(startIso);
}

/** A turn of the event loop: every promise that can settle by now has settled. */
function afterPromises(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('Aborted.', { cause: reason });
}

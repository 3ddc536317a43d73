import type { ReserveMemory } from '@gateway/contracts';
import type { MemoryBudget } from './pressure.js';

/** An answer, or a part of the work for one, that is over at some time. */
export interface Closing {
  /** Calls back once, when it is over; at once where it is. */
  whenClosed(listener: () => void): void;
}

/** Returns the closing of an HTTP answer, or of what stands in for one. */
export function closingOf(raw: {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
}): Closing {
  return { whenClosed: (listener) => void (raw.destroyed ? listener() : raw.once('close', listener)) };
}

/**
 * Reads what a small request names and does not hold. Its bytes count as those of bodies do, from before they are read
 * until `closing`, and until the read has ended; the last size that the read gives is the one that counts. Throws
 * service_unavailable where the budget is used up.
 */
export function withMemory<T>(
  budget: MemoryBudget,
  closing: Closing,
  read: (reserveMemory: ReserveMemory) => Promise<T>,
): Promise<T> {
  let buffered = 0;
  const release = (): void => {
    budget.released(buffered);
    buffered = 0;
  };
  const reading = read((bytes) => {
    release();
    const rejection = budget.rejectionOfMore(bytes);
    if (rejection !== null) throw rejection;
    budget.buffered(bytes);
    buffered = bytes;
  });
  // Whoever leaves during the read still has it in memory.
  closing.whenClosed(() => void reading.then(release, release));
  return reading;
}

/** A part of the work for an answer, that is over before it. */
export class Stage implements Closing {
  private readonly listeners: (() => void)[] = [];

  whenClosed(listener: () => void): void {
    this.listeners.push(listener);
  }

  close(): void {
    for (const listener of this.listeners.splice(0)) listener();
  }
}

/** Pages of a stream: each counts until the next is read. */
export class PageBudget {
  private page = new Stage();

  constructor(private readonly budget: MemoryBudget) {}

  read<T>(read: (reserveMemory: ReserveMemory) => Promise<T>): Promise<T> {
    this.close();
    this.page = new Stage();
    return withMemory(this.budget, this.page, read);
  }

  close(): void {
    this.page.close();
  }
}

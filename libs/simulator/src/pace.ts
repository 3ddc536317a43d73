import { performance } from 'node:perf_hooks';

/**
 * The simulator's only touch of the real clock: it plays a remote server, so its delays are real ones.
 */
export function wallTime(): number {
  return Math.round(performance.timeOrigin + performance.now());
}

/** A signal that ends a pause, so that nothing sleeps on for a caller who hung up. */
export interface Interruptible {
  readonly closed: boolean;
  /** Calls the listener when the caller is gone before the answer was finished; returns how to stop listening. */
  onClose(listener: () => void): () => void;
}

/** Resolves after `ms`, or at once when the caller hangs up; 0 resolves on the next turn of the loop. */
export function pause(ms: number, until: Interruptible): Promise<void> {
  if (until.closed) return Promise.resolve();
  return new Promise((resolve) => {
    if (ms <= 0) {
      setImmediate(resolve);
      return;
    }
    const timer = setTimeout(() => {
      stopListening();
      resolve();
    }, ms);
    const stopListening = until.onClose(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

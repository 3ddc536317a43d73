import type { Clock, Timer } from '@gateway/contracts';

/** The machine's own time. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  monotonic(): number {
    return performance.now();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const handle = setTimeout(callback, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortReason(signal));
      const abort = (): void => {
        clearTimeout(handle);
        reject(abortReason(signal));
      };
      // Somebody awaits this: unlike setTimer it keeps the process alive.
      const handle = setTimeout(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, delayMs);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }
}

function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('Aborted.', { cause: reason });
}

import { randomFillSync } from 'node:crypto';
import type { Clock, Random, Timer } from '@gateway/contracts';

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

const POOL_BYTES = 4_096;

/** Cryptographically strong bytes, drawn from the system in blocks because one draw costs a system call. */
export class SystemRandom implements Random {
  private readonly pool = new Uint8Array(POOL_BYTES);
  private used = POOL_BYTES;

  bytes(size: number): Uint8Array {
    if (size > POOL_BYTES) return randomFillSync(new Uint8Array(size));
    if (this.used + size > POOL_BYTES) {
      randomFillSync(this.pool);
      this.used = 0;
    }
    const drawn = this.pool.slice(this.used, this.used + size);
    // Bytes that were handed out, for a secret perhaps, do not stay in the pool.
    this.pool.fill(0, this.used, this.used + size);
    this.used += size;
    return drawn;
  }

  fraction(): number {
    return Math.random();
  }
}

import type { Clock, Random } from '@gateway/contracts';

const BACK_OFF_MS_MIN = 100;
const BACK_OFF_MS_MAX = 5_000;

/** Doubles from 100 ms to 5 s, less up to a half by chance, so that shippers do not come back together. */
export function backOffMs(attempt: number, random: Random): number {
  const full = Math.min(BACK_OFF_MS_MAX, BACK_OFF_MS_MIN * 2 ** Math.min(attempt - 1, 16));
  return full * (1 - random.fraction() / 2);
}

/** Rejects where the work takes longer or the signal aborts; the work's own late failure is then of no interest. */
export function within<T>(
  work: Promise<T>,
  bound: { clock: Clock; timeoutMs: number; signal: AbortSignal },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => finish(() => reject(new Error('Stopped.')));
    const timer = bound.clock.setTimer(bound.timeoutMs, () => {
      finish(() => reject(new Error(`No answer within ${bound.timeoutMs} ms.`)));
    });
    const finish = (settle: () => void): void => {
      timer.cancel();
      bound.signal.removeEventListener('abort', stop);
      settle();
    };
    work.then(
      (value) => finish(() => resolve(value)),
      (error: unknown) => finish(() => reject(error instanceof Error ? error : new Error(String(error)))),
    );
    bound.signal.addEventListener('abort', stop, { once: true });
    if (bound.signal.aborted) stop();
  });
}

import type { Clock, Timer } from '@gateway/contracts';

/** The work's own outcome, or a rejection when the time is over. The work goes on; its late outcome is dropped. */
export async function within<T>(work: Promise<T>, options: { clock: Clock; timeoutMs: number }): Promise<T> {
  const { clock, timeoutMs } = options;
  let timer: Timer | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = clock.setTimer(timeoutMs, () => reject(new Error(`No answer within ${timeoutMs} ms.`)));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer?.cancel();
  }
}

import type { Clock } from '@gateway/contracts';

/** A timer that fires later than this says that we were busy: the answer gets its time once more. */
const LATE_MS = 10;

/**
 * `answer`, or a rejection with "Command timed out" after `ms`. A turn that kept the event loop longer than that makes
 * the timer fire before the sockets are read; so what has arrived by then is read first, and counts. Without this one
 * body of 30 MB, whose parsing takes 100 ms, fails most admissions that wait beside it (reliability 0).
 */
export async function inTime<T>(answer: Promise<T>, ms: number, clock: Clock): Promise<T> {
  let giveUp: (reason: Error) => void = () => undefined;
  const late = new Promise<never>((_resolve, reject) => (giveUp = reject));
  const began = clock.monotonic();
  // Node runs timers, then reads sockets, then runs immediates.
  const end = (): void => void setImmediate(() => giveUp(new Error('Command timed out')));
  let timer = clock.setTimer(ms, () => {
    if (clock.monotonic() - began - ms < LATE_MS) end();
    else timer = clock.setTimer(ms, end);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    timer.cancel();
  }
}

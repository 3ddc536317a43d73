import type { Clock, Timer } from '@gateway/contracts';

export interface Repeated {
  /** Runs soon instead of at its next time. */
  nudge(): void;
  /** Waits for a run under way. */
  stop(): Promise<void>;
}

/** Runs `task` again and again with `delayMs` between the end of one run and the next; never two at once. */
export function repeat(
  clock: Clock,
  delayMs: number,
  task: () => Promise<void>,
  onFailure: (failure: unknown) => void,
): Repeated {
  let timer: Timer | null = null;
  let running: Promise<void> = Promise.resolve();
  let isStopped = false;
  let isRunning = false;
  const plan = (ms: number): void => {
    timer?.cancel();
    if (!isStopped) timer = clock.setTimer(ms, run);
  };
  const run = (): void => {
    if (isRunning) return;
    isRunning = true;
    running = task()
      .catch(onFailure)
      .finally(() => {
        isRunning = false;
        plan(delayMs);
      });
  };
  plan(0);
  return {
    nudge: () => plan(0),
    stop: async () => {
      isStopped = true;
      timer?.cancel();
      await running;
    },
  };
}

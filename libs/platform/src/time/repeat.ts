import type { Clock, Timer } from '@gateway/contracts';

export interface Repeated {
  /** Runs soon instead of at its next time; while a run is under way, once more after it. */
  wake(): void;
  /** Waits for a run under way. */
  stop(): Promise<void>;
}

/**
 * Runs `task` again and again with `delayMs` between the end of one run and the next; never two at once. The first run
 * begins after `firstMs`, at once without it. A run that failed is repeated after `retryMs`, by default `delayMs`.
 */
export function repeat(
  clock: Clock,
  delayMs: number,
  task: () => Promise<void>,
  onFailure: (failure: unknown) => void,
  firstMs = 0,
  retryMs = delayMs,
): Repeated {
  let timer: Timer | null = null;
  let running: Promise<void> | null = null;
  let isWoken = false;
  let isStopped = false;
  const plan = (ms: number): void => {
    timer?.cancel();
    if (!isStopped) timer = clock.setTimer(ms, run);
  };
  const run = (): void => {
    isWoken = false;
    let nextMs = delayMs;
    running = task()
      .catch((failure: unknown) => {
        nextMs = retryMs;
        onFailure(failure);
      })
      .finally(() => {
        running = null;
        plan(isWoken ? 0 : nextMs);
      });
  };
  plan(firstMs);
  return {
    wake: () => {
      isWoken = true;
      if (running === null) plan(0);
    },
    stop: async () => {
      isStopped = true;
      timer?.cancel();
      await running;
    },
  };
}

/** A scheduled callback that has not run yet. */
export interface Timer {
  cancel(): void;
}

/** Time as an argument: the system clock in production, a clock the test moves in tests. */
export interface Clock {
  /** Wall time in milliseconds since the Unix epoch. May step. */
  now(): number;
  /** Milliseconds that only grow; for durations. */
  monotonic(): number;
  /** Runs `callback` once after `delayMs`. Does not keep the process alive. */
  setTimer(delayMs: number, callback: () => void): Timer;
  /** Resolves after `delayMs`; rejects with the signal's reason when aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** Randomness as an argument. */
export interface Random {
  /** Cryptographically strong bytes in production. */
  bytes(size: number): Uint8Array;
  /** A number in [0, 1). For jitter only, never for secrets. */
  fraction(): number;
}

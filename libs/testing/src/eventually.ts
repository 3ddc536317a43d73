import { setTimeout as pause } from 'node:timers/promises';
import { SLOWNESS } from './slowness.js';

export interface EventuallyOptions {
  /** Upper bound on a quiet machine, scaled by SLOWNESS; the wait ends as soon as the condition holds. Default 30,000. */
  timeoutMs?: number;
  intervalMs?: number;
}

/**
 * Waits until `condition` gives something other than undefined, null or false, and returns it. What it throws counts
 * as "not yet", so that an expect() inside it may be used as the condition's own message.
 * @throws Error with the last failure as its cause once the time is over.
 */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  options: EventuallyOptions = {},
): Promise<NonNullable<T>> {
  const { timeoutMs = 30_000, intervalMs = 20 } = options;
  const boundMs = timeoutMs * SLOWNESS;
  const end = performance.now() + boundMs;
  let failure: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value !== undefined && value !== null && value !== false) return value;
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    if (performance.now() >= end) break;
    await pause(intervalMs);
  }
  const detail = failure instanceof Error ? failure.message : 'the condition is still false';
  throw new Error(`Did not come true within ${boundMs} ms: ${detail}`, { cause: failure });
}

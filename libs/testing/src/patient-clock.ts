import type { Timer } from '@gateway/contracts';
import { FixedClock } from './fixed-clock.js';

/** However busy the machine is, no answer comes too late, and who waits before a second try waits for nothing. */
export class PatientClock extends FixedClock {
  override setTimer(): Timer {
    return { cancel: () => undefined };
  }

  override sleep(): Promise<void> {
    return Promise.resolve();
  }
}

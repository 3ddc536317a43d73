import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from './fault-plan.js';
import type { ChaosFleet } from './fleet.js';

/** Carries the faults of a schedule out as the load goes on. */
export class FaultRunner {
  private readonly waiting: Fault[];
  private readonly running = new Set<Promise<void>>();
  private readonly broken = new Set<string>();
  private readonly failures: string[] = [];
  /** Signals sent: SIGKILL, and SIGSTOP. */
  readonly counts = { kills: 0, stops: 0 };

  constructor(
    private readonly fleet: ChaosFleet,
    faults: readonly Fault[],
  ) {
    this.waiting = [...faults];
  }

  begun(requests: number): void {
    while (this.waiting.length > 0 && this.waiting[0].afterRequests <= requests) {
      const [fault] = this.waiting.splice(0, 1);
      // What is broken already is let be: the schedule's next fault of it comes too early.
      if (this.broken.has(fault.part)) continue;
      this.broken.add(fault.part);
      const run = this.run(fault)
        .catch(
          (failure: unknown) =>
            void this.failures.push(`${fault.part} did not come back: ${String(failure)}`),
        )
        .finally(() => {
          this.broken.delete(fault.part);
          this.running.delete(run);
        });
      this.running.add(run);
    }
  }

  /** Resolves when everything is up again. @returns what did not come back */
  async over(): Promise<string[]> {
    this.waiting.length = 0;
    while (this.running.size > 0) await Promise.all(this.running);
    return this.failures;
  }

  private async run({ part, how, forMs }: Fault): Promise<void> {
    const found = this.fleet.parts.get(part);
    if (found === undefined) return;
    if (how !== 'kill') {
      this.counts.stops += 1;
      found.freeze();
      await pause(how === 'stop' ? forMs : forMs / 2);
      if (how === 'stop') return found.thaw();
    }
    this.counts.kills += 1;
    await found.kill();
    await pause(how === 'kill' ? forMs : forMs / 2);
    await found.restart();
  }
}

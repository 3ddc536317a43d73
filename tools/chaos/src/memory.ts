import { readFileSync } from 'node:fs';
import type { ChaosFleet } from './fleet.js';

const EVERY_MS = 1_000;

/** Resident memory of the edges in MiB, sampled every second; a process that was started again begins anew. */
export class MemorySamples {
  private readonly samples = new Map<string, number[]>();
  private readonly timer: NodeJS.Timeout;

  constructor(fleet: ChaosFleet) {
    this.timer = setInterval(() => {
      for (const { name, pid } of fleet.edges) this.sample(name, pid);
    }, EVERY_MS);
  }

  end(): void {
    clearInterval(this.timer);
  }

  /** First, median, last and highest by edge. */
  figures(): Record<string, { first: number; median: number; last: number; max: number }> {
    return Object.fromEntries(
      [...this.samples].map(([name, all]) => {
        const median = all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)];
        return [name, { first: all[0], median, last: all[all.length - 1], max: Math.max(...all) }];
      }),
    );
  }

  private sample(name: string, pid: number | null): void {
    const mebibytes = pid === null ? null : residentMebibytes(pid);
    if (mebibytes === null) return;
    const all = this.samples.get(name) ?? [];
    all.push(mebibytes);
    this.samples.set(name, all);
  }
}

function residentMebibytes(pid: number): number | null {
  try {
    const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found ? Math.round(Number(found[1]) / 1_024) : null;
  } catch {
    return null; // It was killed a moment ago.
  }
}

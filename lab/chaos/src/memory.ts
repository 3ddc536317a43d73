import { readFileSync } from 'node:fs';

const EVERY_MS = 1_000;
/** Samples of a life that are left out: code is compiled, pools and caches fill. */
const WARM_UP = 60;
/** Number of samples below which a life is too short to be judged. */
const JUDGED_MIN = 120;
/** Growth from one third of a life to the next, below which memory moves as the collector does. */
const GROWTH_MIB = 16;
const GROWTH_SHARE = 0.08;

interface Sampled {
  readonly name: string;
  /** Null while it does not run. */
  readonly pid: number | null;
}

/** Resident memory in MiB of one process, from its start to its end. */
interface Life {
  name: string;
  pid: number;
  samples: number[];
}

/** Resident memory of the processes, sampled every second; one that was started again begins a life of its own. */
export class MemorySamples {
  private readonly lives: Life[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly processes: readonly Sampled[],
    private readonly read: (pid: number) => number | null = residentMebibytes,
  ) {}

  begin(): void {
    this.timer = setInterval(() => this.take(), EVERY_MS);
  }

  end(): void {
    clearInterval(this.timer);
  }

  /** One sample of each process. */
  take(): void {
    for (const { name, pid } of this.processes) {
      const mebibytes = pid === null ? null : this.read(pid);
      if (pid === null || mebibytes === null) continue;
      this.lifeOf(name, pid).samples.push(mebibytes);
    }
  }

  /** First, median, last and highest by process, over all its lives. */
  figures(): Record<string, { first: number; median: number; last: number; max: number }> {
    const names = [...new Set(this.lives.map(({ name }) => name))];
    return Object.fromEntries(
      names.map((name) => {
        const all = this.lives.filter((life) => life.name === name).flatMap(({ samples }) => samples);
        return [
          name,
          { first: all[0], median: median(all), last: all[all.length - 1], max: Math.max(...all) },
        ];
      }),
    );
  }

  /** Returns the processes whose memory can be judged, because one life was long enough. */
  judged(): string[] {
    return [...new Set(this.lives.filter(isLong).map(({ name }) => name))];
  }

  /** A sentence for each life whose memory went up all the way instead of coming to a rest. */
  growth(): string[] {
    return this.lives.filter(isLong).flatMap(({ name, samples }) => {
      const [first, second, third] = thirds(samples.slice(WARM_UP)).map(median);
      const least = Math.max(GROWTH_MIB, first * GROWTH_SHARE);
      if (second - first <= least || third - second <= least) return [];
      return [
        `memory of ${name} grows: ${first}, ${second}, ${third} MiB in the thirds of ${samples.length} s`,
      ];
    });
  }

  private lifeOf(name: string, pid: number): Life {
    const last = this.lives.findLast((life) => life.name === name);
    if (last?.pid === pid) return last;
    const life = { name, pid, samples: [] };
    this.lives.push(life);
    return life;
  }
}

function isLong({ samples }: Life): boolean {
  return samples.length >= WARM_UP + JUDGED_MIN;
}

function thirds(samples: readonly number[]): number[][] {
  const cut = (part: number): number => Math.floor((samples.length * part) / 3);
  return [0, 1, 2].map((part) => samples.slice(cut(part), cut(part + 1)));
}

function median(samples: readonly number[]): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)];
}

function residentMebibytes(pid: number): number | null {
  try {
    const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found ? Math.round(Number(found[1]) / 1_024) : null;
  } catch {
    return null; // It was killed a moment ago.
  }
}

import { readdirSync, readFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Resident memory of a process in MiB, from /proc; NaN where there is none. */
export function memoryMiB(pid: number): number {
  try {
    const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return line ? Number(line[1]) / 1_024 : Number.NaN;
  } catch {
    return Number.NaN;
  }
}

/** Processor time of a process so far, user and system, in seconds; NaN where /proc is missing. */
export function processorSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return Number.NaN;
  }
}

/**
 * Processor time of a process's main thread so far, in seconds: what one more request costs where the event loop is
 * the bound. NaN where /proc does not tell it.
 */
export function mainThreadSeconds(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e9;
  } catch {
    return Number.NaN;
  }
}

/** The processes below a process, it included. */
function family(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const parent = Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1].split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // It has ended since it was listed.
    }
  }
  const found = [pid];
  for (const member of found) found.push(...(children.get(member) ?? []));
  return found;
}

/**
 * Lets broker and database below a process give way to the edge, as on machines of their own. Linux keeps the
 * priority per thread: each has to be told.
 */
export function yieldBelow(pid: number, programs: RegExp, nice: number): void {
  for (const member of family(pid)) {
    try {
      if (!programs.test(readFileSync(`/proc/${member}/comm`, 'utf8'))) continue;
      for (const thread of readdirSync(`/proc/${member}/task`)) setPriority(Number(thread), nice);
    } catch {
      // Ended, or not ours to change: the figures are a little worse.
    }
  }
}

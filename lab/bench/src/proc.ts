import { readdirSync, readFileSync } from 'node:fs';
import { cpus, setPriority } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

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
 * the bound. NaN where /proc does not have it.
 */
export function mainThreadSeconds(pid: number): number {
  return threadSeconds(pid, pid);
}

/**
 * Processor time of the threads with which V8 compiles and collects garbage beside the program, in seconds. It falls
 * while a program is warmed up and stands once nothing is left to compile.
 */
export function compilerSeconds(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`)
      .filter((thread) => nameOf(`/proc/${pid}/task/${thread}`) === 'V8Worker')
      .reduce((sum, thread) => sum + threadSeconds(pid, thread), 0);
  } catch {
    return Number.NaN;
  }
}

function threadSeconds(pid: number, thread: number | string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e9;
  } catch {
    return Number.NaN;
  }
}

function nameOf(folder: string): string {
  return readFileSync(`${folder}/comm`, 'utf8').trim();
}

/** Processor time that all processors have spent so far on anything, in seconds; NaN where /proc is missing. */
export function busySeconds(): number {
  try {
    const [user, nice, system, , , irq, softIrq] = readFileSync('/proc/stat', 'utf8')
      .split('\n')[0]
      .split(/\s+/)
      .slice(1)
      .map(Number);
    return (user + nice + system + irq + softIrq) / 100;
  } catch {
    return Number.NaN;
  }
}

/** Processor time of processes and everything below them so far, in seconds. Children that have ended count, too. */
export function familySeconds(pids: readonly number[]): number {
  return family(pids).reduce((sum, pid) => sum + (ownAndEndedSeconds(pid) || 0), 0);
}

function ownAndEndedSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / 100;
  } catch {
    return Number.NaN;
  }
}

/** The processes that a process has started and that still run. */
export function childrenOf(pid: number): number[] {
  return parents().get(pid) ?? [];
}

/** Waits for the machine to be nearly idle, some seconds at most: what a round leaves behind belongs to no other. */
export async function untilIdle(): Promise<void> {
  const IDLE_SHARE = 0.15;
  for (let look = 0; look < 20; look += 1) {
    const before = busySeconds();
    await pause(250);
    if (!(busySeconds() - before > 0.25 * cpus().length * IDLE_SHARE)) return;
  }
}

/** Returns the children of every process that has some. */
function parents(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const parent = Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // It has ended since it was listed.
    }
  }
  return children;
}

/** The processes below some, they included. */
function family(pids: readonly number[]): number[] {
  const children = parents();
  const found = [...pids];
  for (const member of found) found.push(...(children.get(member) ?? []));
  return found;
}

/**
 * Lets broker and database below a process give way to the edge, as on machines of their own. Linux keeps the
 * priority per thread, so each of them is set.
 */
export function yieldBelow(pid: number, programs: RegExp, nice: number): void {
  for (const member of family([pid])) {
    try {
      if (!programs.test(nameOf(`/proc/${member}`))) continue;
      for (const thread of readdirSync(`/proc/${member}/task`)) setPriority(Number(thread), nice);
    } catch {
      // Ended, or not ours to change: the figures are a little worse.
    }
  }
}

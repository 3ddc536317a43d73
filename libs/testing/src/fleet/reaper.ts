import { spawn } from 'node:child_process';

/** Ends, at the end of its input, every process that was named on it and not taken back. */
const PROGRAM = `
  const pids = new Set();
  require('node:readline').createInterface({ input: process.stdin })
    .on('line', (line) => line[0] === '+' ? pids.add(+line.slice(1)) : pids.delete(+line.slice(1)))
    .on('close', () => { for (const pid of pids) try { process.kill(pid, 'SIGKILL'); } catch {} });
`;

/** Sees to it that no service outlives this process, whichever way this one ends. */
export class Reaper {
  private readonly child = spawn(process.execPath, ['-e', PROGRAM], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });

  constructor() {
    this.child.stdin.on('error', () => undefined); // It was killed: then nobody reaps, as without it.
    this.child.unref();
  }

  watch(pid: number): void {
    this.child.stdin.write(`+${pid}\n`);
  }

  /** It has ended, and its number may be given to another. */
  forget(pid: number): void {
    this.child.stdin.write(`-${pid}\n`);
  }

  end(): void {
    this.child.stdin.end();
  }
}

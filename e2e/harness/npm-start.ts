import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { eventually } from '@gateway/testing/plain';
import type { Clone, User } from './clone.js';

/** Time of a start with a build of everything, on a machine that runs all other tests at once. */
const START_MS = 400_000;
const END_MS = 60_000;
const LAST_LINE = 'Ctrl-C stops everything in order.';

export interface Started {
  /** Text that it has printed. */
  readonly greeting: string;
  /** A signal to all that the terminal runs: SIGHUP is its closing, SIGINT Ctrl-C. Resolves when nothing runs any more. */
  endTerminal(signal: 'SIGHUP' | 'SIGINT'): Promise<void>;
  kill(): void;
}

interface RunOptions {
  env?: Record<string, string>;
  /** Folders of programs that come before the machine's. */
  programs?: string[];
}

interface Run extends Started {
  /** Returns npm's exit code, once it has ended. */
  status(): number | null;
}

/** `npm start` in a terminal of its own, with nothing of this process's environment but where programs are. */
export async function npmStart(clone: Clone, user: User, more: RunOptions = {}): Promise<Started> {
  const run = launch(clone, user, more);
  try {
    await eventually(() => run.status() !== null || run.greeting.includes(LAST_LINE), {
      timeoutMs: START_MS,
    });
    if (run.status() !== null) throw new Error(`npm start ended with ${run.status()}: ${run.greeting}`);
  } catch (failure) {
    run.kill();
    throw failure;
  }
  return run;
}

/** The request that a shell makes of a printed curl. */
export function parsedCurl(greeting: string): { url: string; init: RequestInit } {
  const command = /^curl [^]*?'$/m.exec(greeting)?.[0] ?? '';
  const script = `curl() { for word in "$@"; do printf '%s\\0' "$word"; done; }\n${command}`;
  const words = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).split('\0');
  const after = (flag: string): string[] =>
    words.flatMap((word, at) => (word === flag ? [words[at + 1]] : []));
  const headers = after('-H').map((line) => line.split(': ') as [string, string]);
  return { url: words[0], init: { method: 'POST', headers, body: after('-d')[0] } };
}

function launch(clone: Clone, { uid, gid }: User, { env = {}, programs = [] }: RunOptions): Run {
  // Not the Node of this run's own node_modules, which `npm test` puts first.
  const inherited = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((path) => !path.includes('node_modules'));
  const isOther = uid !== process.getuid?.();
  const npm = spawn('npm', ['start'], {
    cwd: clone.folder,
    env: { PATH: [...programs, ...inherited].join(delimiter), HOME: clone.home, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, as a terminal has one.
    detached: true,
    ...(isOther ? { uid, gid } : {}),
  });
  let output = '';
  let status: number | null = null;
  for (const stream of [npm.stdout, npm.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  npm.once('error', (failure) => (output += failure.message));
  npm.once('close', (code) => (status = code ?? 1));
  const group = -(npm.pid ?? 0);
  const everything = (): number[] => [group, postgresPid(clone) ?? 0].filter((pid) => pid !== 0);
  return {
    get greeting() {
      return output;
    },
    status: () => status,
    endTerminal: async (signal) => {
      const postgres = postgresPid(clone);
      if (postgres === undefined) throw new Error('No PostgreSQL runs below it.');
      process.kill(group, signal);
      // npm's output ends with the last process that has it.
      await eventually(() => status !== null && !isAlive(postgres), { timeoutMs: END_MS });
    },
    kill: () => everything().forEach((pid) => isAlive(pid) && process.kill(pid, 'SIGKILL')),
  };
}

function postgresPid({ folder }: Clone): number | undefined {
  const lock = join(folder, '.data', 'postgres', 'cluster', 'postmaster.pid');
  return existsSync(lock) ? Number(readFileSync(lock, 'utf8').split('\n')[0]) : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

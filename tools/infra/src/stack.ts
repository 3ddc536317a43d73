import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { repositoryRoot } from './repository.js';

export type StackKind = 'all-in-one' | 'fleet';

/** One whole gateway that is ready to be used. */
export interface RunningStack {
  /**
   * Returns what its program says of it now: its address, its first super admin and a token that lives.
   * @throws Error with what the program wrote, where it has ended
   */
  describe(): Promise<Record<string, unknown>>;
  /** Asks it to stop in order, and kills it where it does not. */
  stop(): Promise<void>;
}

const PROGRAM = 'dist/libs/testing/src/fleet/stack-main.js';
const STOP_MS = 60_000;

/**
 * Starts the built gateway in a program of its own, which asks this guard for the servers that it needs.
 * @throws Error with what the program wrote, where it ends before it is ready
 */
export async function startStack(kind: StackKind, guardSocket: string): Promise<RunningStack> {
  const program = join(repositoryRoot, PROGRAM);
  if (!existsSync(program))
    throw new Error(`${program} is missing: run "npm run build", or the tests through "npm test".`);
  const child = spawn(process.execPath, ['--enable-source-maps', program, kind], {
    cwd: repositoryRoot,
    env: { ...process.env, GATEWAY_INFRA_SOCKET: guardSocket },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4_000)));
  child.stdin.on('error', () => undefined); // It has ended: no line comes.
  const closed = once(child, 'close').then(() => null);
  const lines = createInterface({ input: child.stdout });
  const ask = async (): Promise<Record<string, unknown>> => {
    const said = new Promise<string>((done) => {
      const take = (line: string): void => {
        if (!line.startsWith('{')) return;
        lines.off('line', take);
        done(line);
      };
      lines.on('line', take);
    });
    child.stdin.write('\n');
    const line = await Promise.race([said, closed]);
    if (line === null) throw new Error(`The ${kind} of the run did not start, or has ended: ${errors}`);
    return JSON.parse(line) as Record<string, unknown>;
  };
  let last = ask();
  await last;
  // One question after the other: an answer does not say which question it is for.
  const describe = (): Promise<Record<string, unknown>> => (last = last.catch(() => undefined).then(ask));
  return { describe, stop: () => end(child) };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const overdue = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  child.stdin?.end();
  await ended;
  clearTimeout(overdue);
}

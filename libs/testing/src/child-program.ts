import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { SLOWNESS } from './slowness.js';
import { keeper } from './leftovers/keep.js';

const OUTPUT_CHARS_MAX = 1_000_000;

export interface ProgramOptions {
  command: string;
  args: string[];
  /** Added to this process's own environment. */
  env?: Record<string, string>;
  cwd?: string;
  /** The program is ready when its output matches, line ends included. */
  readyWhen: RegExp;
  /** Upper bound on a quiet machine, scaled by SLOWNESS. Default 15,000. */
  timeoutMs?: number;
}

export interface Program {
  readonly pid: number;
  /** Match of `readyWhen` with its groups, for example the address in a line "listening on (\S+)". */
  readonly ready: RegExpExecArray;
  /** Both streams so far; the oldest part is dropped above a million characters. */
  output(): string;
  /** The exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  /** Standard input; ending it stops some programs. */
  endInput(): void;
  /** Closes the reading ends of both streams, as a collector of logs that has died. */
  closeOutput(): void;
  signal(name: NodeJS.Signals): void;
  /** kill -9, and waits until the process is gone. */
  kill(): Promise<void>;
}

/** Starts a program and waits for its readiness line. @throws Error with its output when that does not come. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = keeper('logs');
  const collect = (chunk: string): void => {
    output = (output + chunk).slice(-OUTPUT_CHARS_MAX);
    keep?.(chunk);
  };
  child.stdout.setEncoding('utf8').on('data', collect);
  child.stderr.setEncoding('utf8').on('data', collect);
  child.stdin.on('error', () => undefined); // It has ended: `ended` says so.
  let isOver = false;
  const ended = new Promise<number | string>((done) => {
    child.once('error', (error) => done(error.message));
    child.once('close', (code, signal) => done(signal ?? code ?? 0));
  }).finally(() => (isOver = true));

  const end = performance.now() + (options.timeoutMs ?? 15_000) * SLOWNESS;
  for (;;) {
    // Also of one that has ended meanwhile: all that it wrote is here then.
    const ready = options.readyWhen.exec(output);
    if (ready && child.pid !== undefined) {
      return {
        pid: child.pid,
        ready,
        output: () => output,
        ended,
        endInput: () => void child.stdin.end(),
        closeOutput: () => {
          child.stdout.destroy();
          child.stderr.destroy();
        },
        signal: (name) => void child.kill(name),
        kill: async () => {
          if (isOver) return;
          const gone = once(child, 'close');
          child.kill('SIGKILL');
          await gone;
        },
      };
    }
    if (isOver || performance.now() >= end) break;
    await pause(10);
  }
  child.kill('SIGKILL');
  throw new Error(`${options.command} ${options.args.join(' ')} was not ready: ${output.slice(-4_000)}`);
}

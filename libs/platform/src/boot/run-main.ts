import { ConfigError } from '../config/load-config.js';
import type { RunningApp } from './bootstrap.js';

/**
 * One Ctrl-C reaches a program twice, from the terminal and from the npm above it. Signals this close together are one;
 * a later one means: do not wait.
 */
const SAME_SIGNAL_MS = 1_500;

const CHECK_CONFIG = '--check-config';

/**
 * The whole of an app's main.ts: `build` reads the configuration at once and answers how to start.
 * `--check-config` stops after the configuration; `flags` are the app's own, any other ends with status 2. A fault of
 * the configuration ends with status 1 and one message; SIGTERM, SIGINT and SIGHUP (the terminal was closed) drain,
 * close and end with status 0, also while it starts; a second signal ends at once.
 */
export async function runMain(
  name: string,
  build: () => () => Promise<Pick<RunningApp, 'close'>>,
  flags: readonly string[] = [],
): Promise<void> {
  ignoreClosedTerminal();
  const known = [CHECK_CONFIG, ...flags];
  const unknown = process.argv.slice(2).find((flag) => !known.includes(flag));
  if (unknown !== undefined) {
    process.stderr.write(`${name}: ${unknown} is not known; there is ${known.join(', ')}\n`);
    process.exit(2);
  }
  try {
    const start = build();
    if (process.argv.includes(CHECK_CONFIG)) {
      process.stdout.write(`${name}: the configuration is valid\n`);
      return;
    }
    const signalled = firstSignal();
    const running = await start();
    void signalled.then(() => end(name, running));
  } catch (failure) {
    process.stderr.write(`${name}: ${explain(failure)}\n`);
    process.exit(1);
  }
}

/** A write to a terminal that is gone fails; the drain must go on all the same. */
function ignoreClosedTerminal(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Resolves at the first signal; from then on a further one ends the process. */
function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (): void => {
      if (firstAt !== undefined && performance.now() - firstAt > SAME_SIGNAL_MS) process.exit(1);
      firstAt ??= performance.now();
      resolve();
    };
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
  });
}

async function end(name: string, running: Pick<RunningApp, 'close'>): Promise<void> {
  try {
    await running.close();
    process.exit(0);
  } catch (failure) {
    process.stderr.write(`${name}: ${explain(failure)}\n`);
    process.exit(1);
  }
}

/**
 * Returns one sentence for a failure that an operator can mend, whose stack would hide it; a fault of ours needs its
 * stack.
 */
function explain(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  if (failure instanceof ConfigError) return failure.message;
  const { code, address, port, path } = failure as NodeJS.ErrnoException & {
    address?: string;
    port?: number;
  };
  if (code === 'EADDRINUSE')
    return `Port ${port} of ${address} is in use: stop the program that has it, or set PORT to another one.`;
  if (code === 'EADDRNOTAVAIL')
    return `${address} is no address of this machine: set HOST to one that is, 0.0.0.0 for all of them.`;
  if (code === 'EACCES' && port !== undefined)
    return `This user may not listen on port ${port}: set PORT to one above 1023.`;
  if ((code === 'EACCES' || code === 'EPERM' || code === 'EROFS') && path !== undefined)
    return `${path} cannot be written or read by this user: give it the right, or choose another folder.`;
  const isSentence = failure.constructor === Error || code !== undefined;
  return isSentence ? failure.message : (failure.stack ?? failure.message);
}

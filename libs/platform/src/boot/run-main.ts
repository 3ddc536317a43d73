import { ConfigError } from '../config/load-config.js';
import type { RunningApp } from './bootstrap.js';

/**
 * The whole of an app's main.ts: `build` reads the configuration at once and answers how to start.
 * `--check-config` stops after the configuration. A fault of it ends with status 1 and one message;
 * SIGTERM and SIGINT drain, close and end with status 0, a second signal ends at once.
 */
export async function runMain(name: string, build: () => () => Promise<RunningApp>): Promise<void> {
  try {
    const start = build();
    if (process.argv.includes('--check-config')) {
      process.stdout.write(`${name}: the configuration is valid\n`);
      return;
    }
    closeOnSignal(name, await start());
  } catch (failure) {
    process.stderr.write(`${name}: ${explain(failure)}\n`);
    process.exit(1);
  }
}

function closeOnSignal(name: string, running: RunningApp): void {
  let isClosing = false;
  const onSignal = (): void => {
    if (isClosing) process.exit(1);
    isClosing = true;
    running.close().then(
      () => process.exit(0),
      (failure: unknown) => {
        process.stderr.write(`${name}: ${explain(failure)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/** A configuration fault is for the operator; a stack would hide it. */
function explain(failure: unknown): string {
  if (failure instanceof ConfigError) return failure.message;
  return failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);
}

// Plain JavaScript, because Jest loads it before any transform of ours.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));

/**
 * Starts the process that owns the servers of this run. It ends, with all of them, when this process does.
 * @param {string[]} kinds servers to start at once; without any nothing starts before it is asked for
 */
export function spawnGuard(kinds = []) {
  const folder = join(tmpdir(), `gw-${randomBytes(6).toString('hex')}`);
  const loader = pathToFileURL(join(here, 'run-ts.mjs')).href;
  const args = ['--no-warnings', '--import', loader, join(here, 'src/guard.ts'), folder, ...kinds];
  // Detached: Ctrl-C must reach the runner only, which then closes the pipe.
  const guard = spawn(process.execPath, args, {
    detached: true,
    stdio: ['pipe', 'inherit', 'inherit'],
    cwd: tmpdir(),
  });
  guard.stdin.on('error', () => {}); // It has ended already: its exit says so.
  guard.unref();
  guard.stdin.unref?.();
  return { folder, guard };
}

/** Closes the pipe and waits until the guard has removed everything. */
export async function endGuard(guard) {
  if (guard.exitCode !== null || guard.signalCode !== null) return;
  const ended = once(guard, 'exit');
  guard.ref();
  guard.stdin.end();
  await ended;
}

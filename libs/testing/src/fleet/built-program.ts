import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@gateway/database/free-port';
import { startProgram, type Program } from '../child-program.js';
import { eventually } from '../eventually.js';
import { SLOWNESS } from '../slowness.js';
import { repository } from './repository.js';

/** Time on a quiet machine: `startProgram` and `eventually` scale it. */
const START_MS = 60_000;

/** Variables of whoever runs the tests that must not reach a gateway under test. */
const NOT_INHERITED = ['DATABASE_URL', 'REDIS_URL', 'KAFKA_BROKERS', 'GATEWAY_DATA_DIR', 'NODE_OPTIONS'];

/**
 * Starts an app of `dist/` on the package's Node. `node test.mjs` builds before it runs. `folder`: the checkout of
 * another release.
 * @throws Error with the program's output where it does not become ready.
 */
export function startBuilt(
  app: string,
  options: {
    env: Record<string, string>;
    args?: string[];
    nodeArgs?: string[];
    readyWhen: RegExp;
    folder?: string;
    /** Program with its arguments that becomes the process, such as `setpriv`. */
    through?: readonly string[];
  },
): Promise<Program> {
  const { folder = repository } = options;
  const main = join(folder, `dist/apps/${app}/src/main.js`);
  if (!existsSync(main))
    throw new Error(`${main} is missing: run "npm run build", or the tests through "npm test".`);
  const emptied = Object.fromEntries(NOT_INHERITED.map((name) => [name, '']));
  const node = [process.execPath, ...(options.nodeArgs ?? ['--enable-source-maps']), main];
  const [command, ...args] = [...(options.through ?? []), ...node, ...(options.args ?? [])];
  return startProgram({
    ...{ command, args },
    env: { ...emptied, ...options.env },
    cwd: folder,
    readyWhen: options.readyWhen,
    timeoutMs: START_MS,
  });
}

/** Asks to stop and waits; kills what does not. @returns the exit code or the signal's name. */
export async function endProgram(program: Program, graceMs = 30_000 * SLOWNESS): Promise<number | string> {
  program.signal('SIGTERM');
  const late = new AbortController();
  const overdue = pause(graceMs, null, { signal: late.signal }).catch(() => null);
  const ended = await Promise.race([program.ended, overdue]).finally(() => late.abort());
  if (ended !== null) return ended;
  await program.kill();
  return 'SIGKILL';
}

/** All different. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

/** Waits until `/readyz` answers 200. */
export async function untilReady(url: string): Promise<void> {
  await eventually(async () => (await fetch(`${url}/readyz`).catch(() => null))?.status === 200, {
    timeoutMs: START_MS,
    intervalMs: 20,
  });
}
